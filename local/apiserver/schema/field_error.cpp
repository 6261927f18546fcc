#include "local/apiserver/schema/field_error.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace amdahl::local {
namespace {

using Json = nlohmann::json;

Cause make(std::string_view reason, std::string_view path, std::string text,
           std::string_view detail) {
  if (!detail.empty()) text.append(": ").append(detail);
  return Cause{.reason = std::string(reason),
               .message = std::move(text),
               .field = std::string(path.empty() ? "<nil>" : path)};
}

std::size_t sequence_bytes(unsigned char lead) {
  if (lead >= 0xF0 && lead < 0xF8) return 4;
  if (lead >= 0xE0) return lead < 0xF0 ? 3 : 0;
  return lead >= 0xC2 ? 2 : 0;
}

// The bytes of one well-formed sequence at the front, or 0.
std::size_t whole_sequence(std::string_view text) {
  const std::size_t bytes = sequence_bytes(static_cast<unsigned char>(text.front()));
  if (bytes == 0 || bytes > text.size()) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) return 0;
  }
  return bytes;
}

std::string_view short_escape(char c) {
  switch (c) {
    case '\a':
      return "\\a";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\v':
      return "\\v";
    case '\\':
      return "\\\\";
    case '"':
      return "\\\"";
    default:
      return {};
  }
}

void json_string(std::string_view text, std::string& out) {
  out.push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (c == '\n') {
      out.append("\\n");
    } else if (c == '\r') {
      out.append("\\r");
    } else if (c == '\t') {
      out.append("\\t");
    } else if (byte < 0x20 || c == '<' || c == '>' || c == '&') {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

std::string json_float(double value) {
  if (!std::isfinite(value)) return "null";
  const double size = std::fabs(value);
  if (size != 0 && (size < 1e-6 || size >= 1e21)) return go_float(value);
  std::array<char, 400> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  return {buffer.data(), error == std::errc{} ? end : buffer.data()};
}

void json_text(const Json& value, int depth, std::string& out) {
  if (depth > kJsonTextDepthMax) {
    out.append("\"...\"");
    return;
  }
  std::string_view separator;
  if (value.is_object()) {
    out.push_back('{');
    for (const auto& [key, item] : value.items()) {
      out.append(std::exchange(separator, ","));
      json_string(key, out);
      out.push_back(':');
      json_text(item, depth + 1, out);
    }
    out.push_back('}');
  } else if (value.is_array()) {
    out.push_back('[');
    for (const Json& item : value) {
      out.append(std::exchange(separator, ","));
      json_text(item, depth + 1, out);
    }
    out.push_back(']');
  } else if (value.is_string()) {
    json_string(value.get_ref<const std::string&>(), out);
  } else if (value.is_number_float()) {
    out.append(json_float(value.get<double>()));
  } else {
    out.append(value.dump());
  }
}

}  // namespace

std::string_view go_trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string go_quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const char c = text.front();
    const auto byte = static_cast<unsigned char>(c);
    std::size_t taken = 1;
    if (const std::string_view escape = short_escape(c); !escape.empty()) {
      out.append(escape);
    } else if (byte < 0x20 || byte == 0x7F) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else if (byte < 0x80) {
      out.push_back(c);
    } else if (const std::size_t bytes = whole_sequence(text); bytes > 0) {
      out.append(text.substr(0, bytes));
      taken = bytes;
    } else {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    }
    text.remove_prefix(taken);
  }
  out.push_back('"');
  return out;
}

std::string go_float(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  const double size = std::fabs(value);
  std::array<char, 400> buffer{};
  const bool exponent = size != 0 && (size < 1e-4 || size >= 1e21);
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                    exponent ? std::chars_format::scientific : std::chars_format::fixed);
  return {buffer.data(), error == std::errc{} ? end : buffer.data()};
}

std::string go_json(const Json& value) {
  std::string out;
  json_text(value, 0, out);
  return out;
}

std::string go_value(const Json& value) {
  if (value.is_string()) return go_quote(value.get_ref<const std::string&>());
  if (value.is_number_float()) return go_float(value.get<double>());
  return go_json(value);
}

Cause required_cause(std::string_view path, std::string_view detail) {
  return make(kCauseRequired, path, "Required value", detail);
}

Cause forbidden_cause(std::string_view path, std::string_view detail) {
  return make(kCauseForbidden, path, "Forbidden", detail);
}

Cause invalid_cause(std::string_view path, const Json& value, std::string_view detail) {
  return make(kCauseInvalid, path, "Invalid value: " + go_value(value), detail);
}

Cause type_invalid_cause(std::string_view path, std::string_view actual, std::string_view detail) {
  return make(kCauseTypeInvalid, path, "Invalid value: " + go_quote(actual), detail);
}

Cause duplicate_cause(std::string_view path, const Json& value) {
  return make(kCauseDuplicate, path, "Duplicate value: " + go_value(value), {});
}

Cause not_supported_cause(std::string_view path, const Json& value,
                          std::span<const std::string> supported) {
  std::string detail;
  for (const std::string& name : supported) {
    detail.append(detail.empty() ? "supported values: " : ", ").append(go_quote(name));
  }
  return make(kCauseNotSupported, path, "Unsupported value: " + go_value(value), detail);
}

Cause too_long_cause(std::string_view path, std::int64_t max) {
  return make(kCauseTooLong, path, "Too long",
              fmt::format("may not be more than {} {}", max, max == 1 ? "byte" : "bytes"));
}

Cause too_many_cause(std::string_view path, std::size_t actual, std::int64_t max) {
  return make(kCauseTooMany, path, fmt::format("Too many: {}", actual),
              fmt::format("must have at most {} {}", max, max == 1 ? "item" : "items"));
}

}  // namespace amdahl::local
