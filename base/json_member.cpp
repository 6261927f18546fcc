#include "base/json_member.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace amdahl {
namespace {

using Visit = function_ref<bool(const Json& value, const std::string& place)>;

const Json kNothing;

// One walk; false: the visitor has seen enough.
class PathWalk {
 public:
  explicit PathWalk(const Visit& visit) : visit_(visit) {}

  bool go(const Json& value, std::string_view path) {
    if (path.empty()) return visit_(value, place_);
    if (path.starts_with("[]")) return items(value, path.substr(2));
    if (path.starts_with('.')) path.remove_prefix(1);
    const std::size_t end = std::min(path.find_first_of(".["), path.size());
    std::string_view names = path.substr(0, end);
    while (!names.empty()) {
      const std::size_t bar = std::min(names.find('|'), names.size());
      if (!one_member(value, names.substr(0, bar), path.substr(end))) return false;
      names.remove_prefix(std::min(bar + 1, names.size()));
    }
    return true;
  }

 private:
  bool one_member(const Json& value, std::string_view name, std::string_view rest) {
    const Json& found = member_of(value, name);
    if (found.is_null()) return true;
    return inside(std::string(place_.empty() ? "" : ".") + std::string(name), found, rest);
  }
  bool items(const Json& list, std::string_view rest) {
    if (!list.is_array()) return true;
    std::size_t index = 0;
    for (const Json& item : list)
      if (!inside("[" + std::to_string(index++) + "]", item, rest)) return false;
    return true;
  }
  bool inside(const std::string& step, const Json& value, std::string_view rest) {
    const std::size_t before = place_.size();
    place_ += step;
    const bool more = go(value, rest);
    place_.resize(before);
    return more;
  }

  const Visit& visit_;
  std::string place_;
};

}  // namespace

const Json& member_of(const Json& value, std::string_view key) {
  if (!value.is_object()) return kNothing;
  const auto found = value.find(key);
  return found == value.end() ? kNothing : *found;
}

std::string_view text_of(const Json& value, std::string_view key) {
  const Json& found = member_of(value, key);
  return found.is_string() ? std::string_view(found.get_ref<const std::string&>()) : "";
}

void drop_nulls(Json& value) {
  if (value.is_array())
    for (Json& item : value) drop_nulls(item);
  if (!value.is_object()) return;
  for (auto member = value.begin(); member != value.end();) {
    if (member->is_null()) {
      member = value.erase(member);
      continue;
    }
    drop_nulls(*member);
    ++member;
  }
}

void each_at(const Json& root, std::string_view path, Visit visit) {
  PathWalk(visit).go(root, path);
}

std::string_view kind_name(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::boolean:
      return "a boolean";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::object:
      return "an object";
    default:
      return "a number";
  }
}

}  // namespace amdahl
