#include "local/apiserver/kinds/image_name.hpp"

#include <algorithm>
#include <array>

namespace amdahl::local {

namespace {

constexpr std::size_t kTagMax = 128;
constexpr std::size_t kRepositoryMax = 255;
constexpr std::size_t kIdentifierLength = 64;             // of an image, which is no name
constexpr std::string_view kOfficialPrefix = "library/";  // of a name without any '/'

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_small(char c) {
  return is_lower(c) || is_digit(c);
}
bool is_alnum(char c) {
  return is_small(c) || is_upper(c);
}
bool is_small_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

template <class Piece>
bool all_pieces(std::string_view text, char separator, Piece is_piece) {
  while (true) {
    const std::size_t end = text.find(separator);
    if (!is_piece(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

// Small letters and digits, joined by one dot, one or two underscores, or dashes.
bool is_component(std::string_view text) {
  std::size_t at = 0;
  while (true) {
    const std::size_t start = at;
    while (at < text.size() && is_small(text[at])) ++at;
    if (at == start) return false;
    if (at == text.size()) return true;
    const char joint = text[at];
    const std::size_t first = at;
    while (at < text.size() && text[at] == joint) ++at;
    const std::size_t most = joint == '.' ? 1 : joint == '_' ? 2 : joint == '-' ? text.size() : 0;
    if (at - first > most) return false;
  }
}

bool is_path(std::string_view text) {
  return all_pieces(text, '/', is_component);
}

bool is_host_label(std::string_view text) {
  const auto fits = [](char c) { return is_alnum(c) || c == '-'; };
  return !text.empty() && std::ranges::all_of(text, fits) && text.front() != '-' &&
         text.back() != '-';
}

bool is_bracketed(std::string_view host) {
  const auto fits = [](char c) { return is_small_hex(c) || (c >= 'A' && c <= 'F') || c == ':'; };
  return host.size() > 2 && host.starts_with('[') && host.ends_with(']') &&
         std::ranges::all_of(host.substr(1, host.size() - 2), fits);
}

// "example.com:5000", "[::1]"
bool is_host(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && !text.ends_with(']')) {
    const std::string_view port = text.substr(colon + 1);
    if (port.empty() || !std::ranges::all_of(port, is_digit)) return false;
    text = text.substr(0, colon);
  }
  return is_bracketed(text) || all_pieces(text, '.', is_host_label);
}

bool is_tag(std::string_view text) {
  const auto fits = [](char c) { return is_alnum(c) || c == '_' || c == '.' || c == '-'; };
  return !text.empty() && text.size() <= kTagMax && std::ranges::all_of(text, fits) &&
         text.front() != '.' && text.front() != '-';
}

bool is_digest(std::string_view text) {
  struct Sum {
    std::string_view name = {};
    std::size_t digits = 0;
  };
  constexpr std::array kSums = {Sum{"sha256:", 64}, Sum{"sha384:", 96}, Sum{"sha512:", 128}};
  return std::ranges::any_of(kSums, [&](const Sum& sum) {
    return text.size() == sum.name.size() + sum.digits && text.starts_with(sum.name) &&
           std::ranges::all_of(text.substr(sum.name.size()), is_small_hex);
  });
}

// What stands before the first '/' is a host if no path may begin like that.
bool looks_like_host(std::string_view first) {
  return first == "localhost" || first.find_first_of(".:") != std::string_view::npos ||
         std::ranges::any_of(first, is_upper);
}

// Without tag and digest.
bool is_repository(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos)
    return is_path(name) && kOfficialPrefix.size() + name.size() <= kRepositoryMax;
  const std::string_view first = name.substr(0, slash);
  if (!looks_like_host(first)) return is_path(name) && name.size() <= kRepositoryMax;
  const std::string_view rest = name.substr(slash + 1);
  if (is_host(first)) return is_path(rest) && rest.size() <= kRepositoryMax;
  return is_path(name) && name.size() <= kRepositoryMax;
}

}  // namespace

std::optional<std::string_view> image_tag(std::string_view image) {
  if (image.size() == kIdentifierLength && std::ranges::all_of(image, is_small_hex)) return {};
  std::string_view name = image.substr(0, image.find('@'));
  const bool has_digest = name.size() < image.size();
  if (has_digest && !is_digest(image.substr(name.size() + 1))) return {};
  std::optional<std::string_view> tag;
  const std::size_t colon = name.rfind(':');
  if (colon != std::string_view::npos && name.find('/', colon) == std::string_view::npos) {
    tag = name.substr(colon + 1);
    name = name.substr(0, colon);
    if (!is_tag(*tag)) return {};
  }
  if (!is_repository(name)) return {};
  return tag ? tag : has_digest ? "" : "latest";
}

}  // namespace amdahl::local
