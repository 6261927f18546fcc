// Boost.URL is compiled here, once; nobody else includes it.
#include <boost/url/src.hpp>

#include "operator/kube/url.hpp"

#include <algorithm>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

namespace amdahl::kube {
namespace {

constexpr std::size_t kUrlBytesMax = 2048;

std::string to_lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return lower;
}

// What may be shown of an address that did not parse: everything up to the last '@' may be secret.
std::string showable(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at != std::string_view::npos) text.remove_prefix(at + 1);
  return std::string(text.substr(0, 200));
}

bool is_host_name(std::string_view host) {
  return !host.empty() && std::ranges::all_of(host, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
  });
}

std::string without_trailing_slash(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path;
}

std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return fail(Errc::kInvalid, "\"{}\" is not an address such as https://10.0.0.1:6443: {}",
                showable(text), why);
  };
  if (text.size() > kUrlBytesMax) return bad("too long");
  const auto parsed = boost::urls::parse_uri(text);
  if (!parsed) return bad("write scheme://host:port");
  if (!parsed->has_authority()) return bad("there is no //host");
  // Boost 1.81 takes what follows a bad port or host for a path: "h:64x3", "1.2.3.4.5".
  if (!parsed->encoded_path().empty() && !parsed->encoded_path().starts_with('/'))
    return bad("the host or port is malformed");
  if (parsed->has_query() || parsed->has_fragment()) return bad("there is a query or a fragment");

  Url url{.scheme = to_lower(parsed->scheme()), .host = to_lower(parsed->host())};
  if (url.scheme != "http" && url.scheme != "https") return bad("the scheme is not http or https");
  const bool ipv6 = parsed->host_type() == boost::urls::host_type::ipv6;
  if (ipv6) url.host = url.host.substr(1, url.host.size() - 2);
  if (!ipv6 && !is_host_name(url.host)) return bad("there is no host, or it has odd characters");
  url.port = url.tls() ? 443 : 80;
  if (!parsed->port().empty()) {
    url.port = parsed->port_number();
    if (url.port == 0) return bad("the port is not between 1 and 65535");
  }
  url.base_path = without_trailing_slash(std::string(parsed->encoded_path()));
  url.user = parsed->user();
  url.password = parsed->password();
  return url;
}

std::string authority(const Url& url) {
  return fmt::format("{}:{}", bracketed(url.host), url.port);
}

std::string to_string(const Url& url) {
  const bool default_port = url.port == (url.tls() ? 443 : 80);
  return fmt::format("{}://{}{}", url.scheme, default_port ? bracketed(url.host) : authority(url),
                     url.base_path);
}

}  // namespace amdahl::kube
