#include "local/apiserver/schema/format.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace amdahl::local {
namespace {

struct Named {
  std::string_view name = {};
  Format format = Format::kNone;
};
constexpr std::array<Named, 19> kNames{{
    {"byte", Format::kByte},
    {"cidr", Format::kCidr},
    {"date", Format::kDate},
    {"datetime", Format::kDateTime},
    {"duration", Format::kDuration},
    {"email", Format::kEmail},
    {"hexcolor", Format::kHexColor},
    {"hostname", Format::kHostname},
    {"ipv4", Format::kIpv4},
    {"ipv6", Format::kIpv6},
    {"k8slongname", Format::kLongName},
    {"k8sshortname", Format::kShortName},
    {"mac", Format::kMac},
    {"password", Format::kPassword},
    {"uri", Format::kUri},
    {"uuid", Format::kUuid},
    {"uuid3", Format::kUuid3},
    {"uuid4", Format::kUuid4},
    {"uuid5", Format::kUuid5},
}};

bool lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool alnum(char c) {
  return lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}
bool hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool beyond_ascii(char c) {
  return (static_cast<unsigned char>(c) & 0x80U) != 0;
}
bool host_char(char c) {
  return alnum(c) || beyond_ascii(c);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool dns_label(std::string_view text) {
  return !text.empty() && lower_or_digit(text.front()) && lower_or_digit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return lower_or_digit(c) || c == '-'; });
}

bool long_name(std::string_view text) {
  if (text.size() > 253) return false;
  return std::ranges::all_of(split(text, '.'), dns_label);
}

bool hostname(std::string_view text) {
  if (text.empty() || text.size() > 255) return false;
  const auto labels = split(text, '.');
  if (std::ranges::any_of(labels, [](auto label) { return label.empty() || label.size() > 63; })) {
    return false;
  }
  if (labels.size() ==
      1) {  // a dash is allowed after the first character only, as Kubernetes has it
    const std::string_view rest = text.substr(1);
    return host_char(text[0]) && text.back() != '-' &&
           std::ranges::all_of(rest.substr(rest.starts_with('-') ? 1 : 0), host_char);
  }
  const std::string_view top = labels.back();
  if (top.size() < 2 ||
      !std::ranges::all_of(top, [](char c) { return letter(c) || beyond_ascii(c); })) {
    return false;
  }
  return std::ranges::all_of(labels, [](std::string_view label) {
    return host_char(label.front()) && host_char(label.back()) &&
           std::ranges::all_of(label, [](char c) { return host_char(c) || c == '-'; });
  });
}

bool ipv4(std::string_view text) {
  const auto parts = split(text, '.');
  if (parts.size() != 4) return false;
  return std::ranges::all_of(parts, [](std::string_view part) {
    if (part.empty() || part.size() > 10) return false;
    int value = 0;
    for (const char c : part) {
      if (c < '0' || c > '9') return false;
      value = std::min(value * 10 + (c - '0'), 256);
    }
    return value <= 255;
  });
}

// The groups of one side of "::", counted; an IPv4 tail counts as two. -1: not an address.
int ipv6_groups(std::string_view text, bool tail_allowed) {
  if (text.empty()) return 0;
  int count = 0;
  const auto parts = split(text, ':');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (tail_allowed && i + 1 == parts.size() && part.find('.') != std::string_view::npos) {
      if (!ipv4(part)) return -1;
      count += 2;
      continue;
    }
    if (part.empty() || part.size() > 4 || !std::ranges::all_of(part, hex)) return -1;
    ++count;
  }
  return count;
}

bool ipv6(std::string_view text) {
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) return ipv6_groups(text, true) == 8;
  const int left = ipv6_groups(text.substr(0, gap), false);
  const int right = ipv6_groups(text.substr(gap + 2), true);
  return left >= 0 && right >= 0 && left + right <= 7;
}

bool cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view address = text.substr(0, slash);
  const std::string_view bits = text.substr(slash + 1);
  if (bits.empty() || bits.size() > 3) return false;
  int value = 0;
  for (const char c : bits) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + (c - '0');
  }
  return (ipv4(address) && value <= 32) || (ipv6(address) && value <= 128);
}

bool mac(std::string_view text) {
  const bool dotted = text.find('.') != std::string_view::npos;
  const char separator = dotted ? '.' : text.find('-') != std::string_view::npos ? '-' : ':';
  const auto parts = split(text, separator);
  const std::size_t digits = dotted ? 4 : 2;
  const std::size_t bytes = parts.size() * digits / 2;
  if (bytes != 6 && bytes != 8 && bytes != 20) return false;
  return std::ranges::all_of(parts, [digits](std::string_view part) {
    return part.size() == digits && std::ranges::all_of(part, hex);
  });
}

// version 0: any. Versions 4 and 5 also fix the variant.
bool uuid(std::string_view text, char version) {
  constexpr std::array<std::size_t, 5> kGroups{8, 4, 4, 4, 12};
  for (std::size_t group = 0; group < kGroups.size(); ++group) {
    if (group > 0 && text.starts_with('-')) text.remove_prefix(1);
    const std::string_view digits = text.substr(0, kGroups[group]);
    if (digits.size() != kGroups[group] || !std::ranges::all_of(digits, hex)) return false;
    if (group == 2 && version != 0 && digits[0] != version) return false;
    const bool variant = version == '4' || version == '5';
    if (group == 3 && variant && std::string_view("89abAB").find(digits[0]) == std::string::npos) {
      return false;
    }
    text.remove_prefix(kGroups[group]);
  }
  return text.empty();
}

bool base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) return false;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  return std::ranges::all_of(text.substr(0, text.size() - padding),
                             [](char c) { return alnum(c) || c == '+' || c == '/'; });
}

bool uri(std::string_view text) {
  if (text.empty()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte <= 0x20 || byte == 0x7F) return false;
    if (text[i] == '%' && (i + 2 >= text.size() || !hex(text[i + 1]) || !hex(text[i + 2]))) {
      return false;
    }
  }
  if (text.front() == '/') return true;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || !letter(text.front())) return false;
  return std::ranges::all_of(text.substr(0, colon),
                             [](char c) { return alnum(c) || c == '+' || c == '-' || c == '.'; });
}

bool email(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0 || at + 1 == text.size()) return false;
  return text.find_first_of(" \t\r\n") == std::string_view::npos;
}

bool hex_color(std::string_view text) {
  if (text.starts_with('#')) text.remove_prefix(1);
  return (text.size() == 3 || text.size() == 6) && std::ranges::all_of(text, hex);
}

}  // namespace

Format format_named(std::string_view name) {
  std::string bare(name);
  std::erase(bare, '-');
  const auto found = std::ranges::find(kNames, bare, &Named::name);
  return found == kNames.end() ? Format::kNone : found->format;
}

bool has_format(Format format, std::string_view text) {
  switch (format) {
    case Format::kNone:
    case Format::kPassword:
      return true;
    case Format::kByte:
      return base64(text);
    case Format::kCidr:
      return cidr(text);
    case Format::kDate:
      return parse_date(text).has_value();
    case Format::kDateTime:
      return parse_date_time(text).has_value();
    case Format::kDuration:
      return parse_duration(text).has_value();
    case Format::kEmail:
      return email(text);
    case Format::kHexColor:
      return hex_color(text);
    case Format::kHostname:
      return hostname(text);
    case Format::kIpv4:
      return ipv4(text) || (text.find('.') != text.npos && ipv6(text));
    case Format::kIpv6:
      return text.find(':') != std::string_view::npos && ipv6(text);
    case Format::kLongName:
      return long_name(text);
    case Format::kMac:
      return mac(text);
    case Format::kShortName:
      return text.size() <= 63 && dns_label(text);
    case Format::kUri:
      return uri(text);
    case Format::kUuid:
      return uuid(text, 0);
    case Format::kUuid3:
      return uuid(text, '3');
    case Format::kUuid4:
      return uuid(text, '4');
    case Format::kUuid5:
      return uuid(text, '5');
  }
  return true;
}

}  // namespace amdahl::local
