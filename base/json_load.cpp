#include "base/json_load.hpp"

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <utility>

namespace amdahl {
namespace {
using Json = nlohmann::json;
namespace dom = simdjson::dom;

// NOLINTBEGIN(misc-no-recursion): at most kLoadDepthMax deep.
bool build(dom::element from, Json& into, int depth);

bool build_object(dom::object from, Json& into, int depth) {
  Json::object_t members;
  for (const dom::key_value_pair member : from) {
    const std::size_t before = members.size();
    const auto at = members.emplace_hint(members.end(), member.key, nullptr);
    if (members.size() == before || !build(member.value, at->second, depth)) return false;
  }
  into = std::move(members);
  return true;
}

bool build_array(dom::array from, Json& into, int depth) {
  Json::array_t items;
  items.reserve(from.size());
  for (const dom::element item : from)
    if (!build(item, items.emplace_back(), depth)) return false;
  into = std::move(items);
  return true;
}

bool build(dom::element from, Json& into, int depth) {
  if (depth == kLoadDepthMax) return false;
  switch (from.type()) {
    case dom::element_type::OBJECT:
      return build_object(from.get_object().value_unsafe(), into, depth + 1);
    case dom::element_type::ARRAY:
      return build_array(from.get_array().value_unsafe(), into, depth + 1);
    case dom::element_type::STRING:
      into = std::string(from.get_string().value_unsafe());
      return true;
    case dom::element_type::INT64: {
      // As nlohmann's parser does: what is not negative is unsigned.
      const std::int64_t number = from.get_int64().value_unsafe();
      if (number < 0)
        into = number;
      else
        into = static_cast<std::uint64_t>(number);
      return true;
    }
    case dom::element_type::UINT64:
      into = from.get_uint64().value_unsafe();
      return true;
    case dom::element_type::DOUBLE:
      into = from.get_double().value_unsafe();
      return true;
    case dom::element_type::BOOL:
      into = from.get_bool().value_unsafe();
      return true;
    case dom::element_type::NULL_VALUE:
      into = nullptr;
      return true;
  }
  return false;
}
// NOLINTEND(misc-no-recursion)

}  // namespace

std::optional<Json> load_json(std::string_view text) {
  if (text.size() > kLoadBytesMax) return std::nullopt;
  thread_local dom::parser parser(kLoadBytesMax);
  thread_local std::string padded;
  padded.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  padded.assign(text);
  dom::element root;
  if (parser.parse(padded.data(), padded.size(), false).get(root) != simdjson::SUCCESS)
    return std::nullopt;
  std::optional<Json> loaded(std::in_place);
  if (!build(root, *loaded, 0)) return std::nullopt;
  return loaded;
}

}  // namespace amdahl
