#include "base/json_dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace amdahl {
namespace {
using Json = nlohmann::json;

// NOLINTBEGIN(misc-no-recursion): as deep as the tree that was written.
class DumpReader {
 public:
  explicit DumpReader(std::string_view text) : rest_(text) {}

  bool value(Json& into) {
    if (rest_.empty()) return false;
    if (rest_.front() == '{') return object(into);
    if (rest_.front() == '[') return array(into);
    if (rest_.front() != '"') return scalar(into);
    into = std::string();
    return string(into.get_ref<std::string&>());
  }
  bool at_end() const { return rest_.empty(); }

 private:
  bool take(char wanted) {
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool object(Json& into) {
    rest_.remove_prefix(1);
    into = Json::object();
    auto& members = into.get_ref<Json::object_t&>();
    if (take('}')) return true;
    do {
      std::string key;
      if (!string(key) || !take(':')) return false;
      // Sorted when they were written, so each belongs at the end.
      const auto place = members.emplace_hint(members.end(), std::move(key), nullptr);
      if (!value(place->second)) return false;
    } while (take(','));
    return take('}');
  }

  bool array(Json& into) {
    rest_.remove_prefix(1);
    into = Json::array();
    auto& elements = into.get_ref<Json::array_t&>();
    if (take(']')) return true;
    do
      if (!value(elements.emplace_back())) return false;
    while (take(','));
    return take(']');
  }

  bool string(std::string& into) {
    if (rest_.empty() || rest_.front() != '"') return false;
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"' && rest_[end] != '\\') ++end;
    if (end == rest_.size()) return false;
    if (rest_[end] == '\\') return escaped_string(into);
    into = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool escaped_string(std::string& into) {
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
    if (end >= rest_.size()) return false;
    const Json read = Json::parse(rest_.substr(0, end + 1), nullptr, false);
    if (!read.is_string()) return false;
    into = read.get_ref<const std::string&>();
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool scalar(Json& into) {
    const std::string_view token = rest_.substr(0, rest_.find_first_of(",]}"));
    rest_.remove_prefix(token.size());
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
    if (error == std::errc() && end == token.data() + token.size()) {
      into = number;
      return true;
    }
    into = Json::parse(token, nullptr, false);
    return !into.is_discarded();
  }

  std::string_view rest_;
};
// NOLINTEND(misc-no-recursion)

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

Json read_dump(std::string_view text) {
  DumpReader reader(text);
  Json value;
  if (reader.value(value) && reader.at_end()) return value;
  return Json(Json::value_t::discarded);
}

}  // namespace amdahl
