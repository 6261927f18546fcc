#include "cli/field_owners.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "base/json_member.hpp"

namespace amdahl::cli {
namespace {

constexpr int kDepthMax = 64;

bool is_a_persons_tool(std::string_view manager) {
  static constexpr std::array<std::string_view, 2> kOurs = {"amdahl", kControlManager};
  return std::ranges::find(kOurs, manager) != kOurs.end() || manager.starts_with("kubectl");
}

// `fields` is FieldsV1: "f:name" is a field; an item of a list is taken to be in every list.
bool overlap(const Json& fields, const Json& value, int depth) {
  if (!fields.is_object() || depth > kDepthMax) return false;
  for (const auto& [name, below] : fields.items()) {
    if (!name.starts_with("f:")) {
      if (value.is_array() && !value.empty()) return true;
      continue;
    }
    const Json& mine = member_of(value, std::string_view(name).substr(2));
    if (mine.is_null()) continue;
    const bool leaf = !below.is_object() || below.empty();
    if (leaf || overlap(below, mine, depth + 1)) return true;
  }
  return false;
}

}  // namespace

bool others_manage(const Json& live, const Json& manifest) {
  const Json& entries = member_of(member_of(live, "metadata"), "managedFields");
  if (!entries.is_array()) return false;
  return std::ranges::any_of(entries, [&](const Json& entry) {
    return text_of(entry, "subresource").empty() && !is_a_persons_tool(text_of(entry, "manager")) &&
           overlap(member_of(entry, "fieldsV1"), manifest, 0);
  });
}

std::optional<Json> adoption_patch(const Json& created) {
  const Json& entries = member_of(member_of(created, "metadata"), "managedFields");
  if (!entries.is_array()) return std::nullopt;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Json& entry = entries[i];
    if (text_of(entry, "manager") != kFileManager || text_of(entry, "operation") != "Update" ||
        !text_of(entry, "subresource").empty())
      continue;
    const std::string place = "/metadata/managedFields/" + std::to_string(i);
    // Another write may have moved the entry in the meantime.
    return Json::array(
        {{{"op", "test"}, {"path", place + "/manager"}, {"value", std::string(kFileManager)}},
         {{"op", "test"}, {"path", place + "/operation"}, {"value", "Update"}},
         {{"op", "replace"}, {"path", place + "/operation"}, {"value", "Apply"}}});
  }
  return std::nullopt;
}

}  // namespace amdahl::cli
