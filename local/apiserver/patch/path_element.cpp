#include "local/apiserver/patch/path_element.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>

#include "base/json_dump.hpp"

namespace amdahl::local {
namespace {

constexpr double kExactIntegerMax = 9007199254740992.0;  // 2^53

// 80.0 and 80 are one key.
Json canonical(const Json& value) {
  if (!value.is_number_float()) return value;
  const double number = value.get<double>();
  if (std::trunc(number) != number || std::fabs(number) > kExactIntegerMax) return value;
  return static_cast<std::int64_t>(number);
}

std::string text_of(const Json& value) {
  return dump_json(value.is_number_float() ? canonical(value) : value);
}

using Keys = std::map<std::string_view, const Json*>;

std::string key_text(const Keys& keys) {
  std::string text = "k:";
  for (const auto& [name, value] : keys) {
    text += text.size() == 2 ? '{' : ',';
    append_json(text, Json(name));
    text += ':';
    text += text_of(*value);
  }
  return text += keys.empty() ? "{}" : "}";
}

std::string key_text(const Json& object) {
  Keys keys;
  for (auto at = object.begin(); at != object.end(); ++at) keys[at.key()] = &*at;
  return key_text(keys);
}

Result<std::string> set_element(const Json& item) {
  if (item.is_object())
    return fail(Errc::kTerminal, "associative list without keys has an element that's a map type");
  if (item.is_array())
    return fail(Errc::kTerminal, "not supported: associative list with lists as elements");
  if (item.is_null())
    return fail(Errc::kTerminal,
                "associative list without keys has an element that's an explicit null");
  return "v:" + text_of(item);
}

Result<std::string> keyed_element(const MergeShape& list, const Json& item) {
  if (item.is_null())
    return fail(Errc::kTerminal, "associative list with keys may not have a null element");
  if (!item.is_object())
    return fail(Errc::kTerminal, "associative list with keys may not have non-map elements");
  Keys keys;
  for (const std::string& name : list.keys) {
    const auto found = item.find(name);
    const auto fallback = list.key_defaults.find(name);
    if (found != item.end())
      keys[name] = &*found;
    else if (fallback != list.key_defaults.end())
      keys[name] = &fallback->second;
  }
  if (keys.empty())
    return fail(Errc::kTerminal,
                "associative list with keys has an element that omits all key fields [\"{}\"] (and "
                "doesn't have default values for any key fields)",
                fmt::join(list.keys, "\" \""));
  return key_text(keys);
}

// As Kubernetes shows a key: members of an object without anything around them.
std::string shown_key(const Json& key) {
  if (!key.is_object()) return text_of(key);
  std::string text;
  for (const auto& [name, value] : key.items()) text += fmt::format("{}={}", name, text_of(value));
  return text;
}

Json parsed(std::string_view text) {
  return Json::parse(text.begin(), text.end(), nullptr, false);
}

}  // namespace

std::string member_element(std::string_view name) {
  std::string element = "f:";
  return element += name;
}

std::optional<std::string_view> member_name(std::string_view element) {
  if (!element.starts_with("f:")) return std::nullopt;
  return element.substr(2);
}

Result<std::string> item_element(const MergeShape& list, const Json& item) {
  return list.kind == MergeKind::kMapList ? keyed_element(list, item) : set_element(item);
}

std::optional<std::vector<std::string>> item_elements(const MergeShape& list, const Json& items) {
  std::vector<std::string> elements;
  elements.reserve(items.size());
  for (const Json& item : items) {
    auto element = item_element(list, item);
    if (!element) return std::nullopt;
    elements.push_back(std::move(*element));
  }
  return elements;
}

Result<std::optional<std::string>> canonical_element(const std::string& element) {
  if (element.size() < 2 || element[1] != ':')
    return fail(Errc::kCorrupt, "parsing key as path element: missing colon: {}", element);
  const std::string_view rest = std::string_view(element).substr(2);
  if (element[0] == 'f') return element;
  if (element[0] == 'i') {
    std::int64_t index = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), index);
    if (error != std::errc() || end != rest.data() + rest.size())
      return fail(Errc::kCorrupt, "parsing key as path element: {} is not an index", element);
    return fmt::format("i:{}", index);
  }
  if (element[0] != 'k' && element[0] != 'v') return std::nullopt;
  const Json value = parsed(rest);
  if (value.is_discarded() || (element[0] == 'k' && !value.is_object()))
    return fail(Errc::kCorrupt, "parsing key as path element: {} does not parse", element);
  TRY(check_depth(value, "a path element"));
  return element[0] == 'k' ? key_text(value) : "v:" + text_of(value);
}

std::string shown_element(const std::string& element) {
  if (const auto name = member_name(element)) return fmt::format(".{}", *name);
  const std::string_view rest = std::string_view(element).substr(2);
  if (element.starts_with("v:")) return fmt::format("[={}]", rest);
  if (element.starts_with("i:")) return fmt::format("[{}]", rest);
  std::string text;
  const Json keys = parsed(rest);
  for (const auto& [name, value] : keys.items()) {
    if (!text.empty()) text += ',';
    text += fmt::format("{}={}", name, shown_key(value));
  }
  return "[" + text + "]";
}

std::string shown_path(const std::vector<std::string>& path) {
  std::string text;
  for (const std::string& element : path) text += shown_element(element);
  return text;
}

}  // namespace amdahl::local
