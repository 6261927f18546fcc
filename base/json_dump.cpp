#include "base/json_dump.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace amdahl {
namespace {
using Json = nlohmann::json;

bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void append_string(std::string& text, const std::string& value) {
  if (!std::ranges::all_of(value, is_plain)) {
    // Rare, and not worth a second set of rules for escapes and broken UTF-8.
    text += Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  text += '"';
  text += value;
  text += '"';
}

}  // namespace

// NOLINTBEGIN(misc-no-recursion): the caller bounds the depth.
void append_json(std::string& text, const Json& value) {
  switch (value.type()) {
    case Json::value_t::object: {
      text += '{';
      for (auto at = value.begin(); at != value.end(); ++at) {
        if (at != value.begin()) text += ',';
        append_string(text, at.key());
        text += ':';
        append_json(text, *at);
      }
      text += '}';
      return;
    }
    case Json::value_t::array: {
      text += '[';
      for (auto at = value.begin(); at != value.end(); ++at) {
        if (at != value.begin()) text += ',';
        append_json(text, *at);
      }
      text += ']';
      return;
    }
    case Json::value_t::string:
      return append_string(text, value.get_ref<const std::string&>());
    case Json::value_t::number_integer: {
      const fmt::format_int number(value.get<std::int64_t>());
      text.append(number.data(), number.size());
      return;
    }
    case Json::value_t::number_unsigned: {
      const fmt::format_int number(value.get<std::uint64_t>());
      text.append(number.data(), number.size());
      return;
    }
    case Json::value_t::boolean:
      text += value.get<bool>() ? "true" : "false";
      return;
    default:  // null, and floats, whose shortest form is an art of its own
      text += value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}
// NOLINTEND(misc-no-recursion)

std::string dump_json(const Json& value) {
  std::string text;
  append_json(text, value);
  return text;
}

}  // namespace amdahl
