#include "local/apiserver/kinds/names.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace amdahl::local {

namespace {

constexpr std::size_t kLabelMax = 63;
constexpr std::size_t kSubdomainMax = 253;
constexpr std::size_t kPortNameMax = 15;
constexpr std::int64_t kPortMax = 65'535;

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alnum(char c) {
  return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z');
}

bool is_label(std::string_view text) {
  const auto ok = [](char c) { return is_lower(c) || is_digit(c) || c == '-'; };
  return !text.empty() && std::ranges::all_of(text, ok) && text.front() != '-' &&
         text.back() != '-';
}

bool is_subdomain(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

// ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]
bool is_name(std::string_view text) {
  const auto ok = [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && std::ranges::all_of(text, ok) && is_alnum(text.front()) &&
         is_alnum(text.back());
}

using Address = std::array<std::uint8_t, sizeof(in6_addr)>;
constexpr std::array<std::uint8_t, 12> kV4Prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

// In 16 bytes; of the older form the last four count, as IPv6 writes it.
std::optional<Address> parse_ip(std::string_view text) {
  Address address{};
  const std::string copy(text);
  if (inet_pton(AF_INET6, copy.c_str(), address.data()) == 1) return address;
  std::ranges::copy(kV4Prefix, address.begin());
  if (inet_pton(AF_INET, copy.c_str(), address.data() + kV4Prefix.size()) == 1) return address;
  return std::nullopt;
}

std::string longest(std::size_t bytes_max) {
  return "must be no more than " + std::to_string(bytes_max) + " characters";
}

constexpr std::string_view kSubdomainText =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kLabelText =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kDns1035Text =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kNameText =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kLabelValueText =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::string_view kConfigKeyText =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
    "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
constexpr std::string_view kEnvNameText =
    "a valid environment variable name must consist only of printable ASCII characters other than "
    "'='";

}  // namespace

NameErrors dns_subdomain_errors(std::string_view text) {
  NameErrors errors;
  if (text.size() > kSubdomainMax) errors.push_back(longest(kSubdomainMax));
  if (!is_subdomain(text)) errors.emplace_back(kSubdomainText);
  return errors;
}

NameErrors dns_label_errors(std::string_view text) {
  NameErrors errors;
  if (text.size() > kLabelMax) errors.push_back(longest(kLabelMax));
  if (!is_label(text)) {
    errors.emplace_back(is_subdomain(text) ? std::string_view("must not contain dots")
                                           : kLabelText);
  }
  return errors;
}

NameErrors dns_1035_errors(std::string_view text) {
  NameErrors errors;
  if (text.size() > kLabelMax) errors.push_back(longest(kLabelMax));
  if (!is_label(text) || !is_lower(text.front())) errors.emplace_back(kDns1035Text);
  return errors;
}

NameErrors qualified_name_errors(std::string_view text) {
  NameErrors errors;
  const std::size_t slash = text.find('/');
  std::string_view name = text;
  if (slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(0, slash);
    name = text.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return {"a qualified name " + std::string(kNameText) +
              " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
    }
    if (prefix.empty()) {
      errors.emplace_back("prefix part must be non-empty");
    } else {
      for (const std::string& error : dns_subdomain_errors(prefix)) {
        errors.push_back("prefix part " + error);
      }
    }
  }
  if (name.empty()) {
    errors.emplace_back("name part must be non-empty");
  } else if (name.size() > kLabelMax) {
    errors.push_back("name part " + longest(kLabelMax));
  }
  if (!is_name(name)) errors.push_back("name part " + std::string(kNameText));
  return errors;
}

NameErrors label_value_errors(std::string_view text) {
  NameErrors errors;
  if (text.size() > kLabelMax) errors.push_back(longest(kLabelMax));
  if (!text.empty() && !is_name(text)) errors.emplace_back(kLabelValueText);
  return errors;
}

NameErrors config_key_errors(std::string_view text) {
  NameErrors errors;
  if (text.size() > kSubdomainMax) errors.push_back(longest(kSubdomainMax));
  const auto ok = [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; };
  if (text.empty() || !std::ranges::all_of(text, ok)) errors.emplace_back(kConfigKeyText);
  if (text == ".") errors.emplace_back("must not be '.'");
  if (text == "..") {
    errors.emplace_back("must not be '..'");
  } else if (text.starts_with("..")) {
    errors.emplace_back("must not start with '..'");
  }
  return errors;
}

NameErrors env_name_errors(std::string_view text) {
  const auto ok = [](char c) { return c >= ' ' && c <= '~' && c != '='; };
  if (!text.empty() && std::ranges::all_of(text, ok)) return {};
  return {std::string(kEnvNameText)};
}

NameErrors port_name_errors(std::string_view text) {
  NameErrors errors;
  if (text.size() > kPortNameMax) errors.push_back(longest(kPortNameMax));
  const auto ok = [](char c) { return is_lower(c) || is_digit(c) || c == '-'; };
  if (!std::ranges::all_of(text, ok)) {
    errors.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (std::ranges::none_of(text, is_lower)) {
    errors.emplace_back("must contain at least one letter (a-z)");
  }
  if (text.find("--") != std::string_view::npos) {
    errors.emplace_back("must not contain consecutive hyphens");
  }
  if (text.starts_with('-') || text.ends_with('-')) {
    errors.emplace_back("must not begin or end with a hyphen");
  }
  return errors;
}

NameErrors path_segment_errors(std::string_view text) {
  if (text == "." || text == "..") return {"may not be '" + std::string(text) + "'"};
  NameErrors errors;
  for (const char c : {'/', '%'}) {
    if (text.find(c) != std::string_view::npos) {
      errors.push_back(std::string("may not contain '") + c + "'");
    }
  }
  return errors;
}

NameErrors port_number_errors(std::int64_t port) {
  if (port >= 1 && port <= kPortMax) return {};
  return {"must be between 1 and 65535, inclusive"};
}

bool is_ip(std::string_view text) {
  return parse_ip(text).has_value();
}

NameErrors ip_errors(std::string_view text) {
  if (is_ip(text)) return {};
  return {"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"};
}

NameErrors endpoint_ip_errors(std::string_view text) {
  const auto found = parse_ip(text);
  if (!found) return {"must be a valid IP address"};
  const Address& ip = *found;
  const bool is_v4 = std::ranges::equal(std::span(ip).first<12>(), kV4Prefix);
  const auto is_host = [&](std::uint8_t last) {
    return std::ranges::count(ip, 0) == 15 && ip[15] == last;
  };
  NameErrors errors;
  if ((is_v4 && std::ranges::count(std::span(ip).last<4>(), 0) == 4) ||
      std::ranges::count(ip, 0) == 16) {
    errors.push_back("may not be unspecified (" + std::string(text) + ")");
  }
  if (is_v4 ? ip[12] == 127 : is_host(1)) {
    errors.emplace_back("may not be in the loopback range (127.0.0.0/8, ::1/128)");
  }
  if (is_v4 ? ip[12] == 169 && ip[13] == 254 : ip[0] == 0xfe && (ip[1] & 0xc0U) == 0x80U) {
    errors.emplace_back("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  }
  if (is_v4 ? ip[12] == 224 && ip[13] == 0 && ip[14] == 0
            : ip[0] == 0xff && (ip[1] & 0x0fU) == 0x02U) {
    errors.emplace_back("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
  return errors;
}

}  // namespace amdahl::local
