#include "checkpoint/store/endpoint.hpp"

#include <algorithm>
#include <charconv>

#include "base/loopback.hpp"
#include "checkpoint/format/strict_json.hpp"

namespace amdahl::checkpoint {
namespace {

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

bool is_host(std::string_view host, bool bracketed) {
  if (host.empty() || host.size() > kHostBytesMax) return false;
  return std::ranges::all_of(host,
                             [&](char c) { return is_unreserved(c) || (bracketed && c == ':'); });
}

bool read_port(std::string_view text, std::uint16_t& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc{} && end == text.data() + text.size() && into != 0;
}

bool read_authority(std::string_view text, Endpoint& into) {
  const bool bracketed = text.starts_with('[');
  const std::size_t end = bracketed ? text.find(']') : std::min(text.find(':'), text.size());
  if (end == text.npos) return false;
  into.host = text.substr(bracketed ? 1 : 0, bracketed ? end - 1 : end);
  text.remove_prefix(bracketed ? end + 1 : end);
  if (!is_host(into.host, bracketed)) return false;
  return text.empty() || (text.starts_with(':') && read_port(text.substr(1), into.port));
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view url) {
  Endpoint endpoint;
  std::string_view rest = url;
  endpoint.tls = rest.starts_with("https://");
  if (const std::size_t scheme = rest.find("://"); scheme != rest.npos) {
    if (!endpoint.tls && rest.substr(0, scheme) != "http") rest = "";
    rest.remove_prefix(std::min(scheme + 3, rest.size()));
  }
  endpoint.port = endpoint.tls ? 443 : 80;
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (!read_authority(rest, endpoint))
    return fail(Errc::kInvalid, "{}: no endpoint; write https://HOST or http://HOST:PORT",
                shown(url));
  return endpoint;
}

std::string host_field(const Endpoint& endpoint) {
  std::string text =
      endpoint.host.contains(':') ? fmt::format("[{}]", endpoint.host) : endpoint.host;
  if (endpoint.port != (endpoint.tls ? 443 : 80)) text += fmt::format(":{}", endpoint.port);
  return text;
}

std::string url_of(const Endpoint& endpoint) {
  return (endpoint.tls ? "https://" : "http://") + host_field(endpoint);
}

bool is_loopback(const Endpoint& endpoint) {
  return is_loopback_host(endpoint.host);
}

std::string percent_encode(std::string_view text, Slashes slashes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c) || (c == '/' && slashes == Slashes::kKeep)) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kDigits[byte >> 4U];
    encoded += kDigits[byte & 15U];
  }
  return encoded;
}

}  // namespace amdahl::checkpoint
