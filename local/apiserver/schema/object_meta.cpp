#include <algorithm>
#include <array>
#include <span>

#include "local/apiserver/schema/prune.hpp"
#include "local/apiserver/schema/schema_keywords.hpp"

namespace amdahl::local {
namespace {

constexpr std::array<std::string_view, 15> kMetaFields{"annotations",
                                                       "creationTimestamp",
                                                       "deletionGracePeriodSeconds",
                                                       "deletionTimestamp",
                                                       "finalizers",
                                                       "generateName",
                                                       "generation",
                                                       "labels",
                                                       "managedFields",
                                                       "name",
                                                       "namespace",
                                                       "ownerReferences",
                                                       "resourceVersion",
                                                       "selfLink",
                                                       "uid"};
constexpr std::array<std::string_view, 6> kOwnerFields{
    "apiVersion", "blockOwnerDeletion", "controller", "kind", "name", "uid"};
constexpr std::array<std::string_view, 7> kManagedFields{
    "apiVersion", "fieldsType", "fieldsV1", "manager", "operation", "subresource", "time"};

void keep_only(Json& object, std::span<const std::string_view> known, const std::string& path,
               std::vector<std::string>& dropped) {
  if (!object.is_object()) return;
  for (auto at = object.begin(); at != object.end();) {
    if (std::ranges::find(known, at.key()) != known.end()) {
      ++at;
      continue;
    }
    if (dropped.size() < kDroppedPathsMax) dropped.push_back(path_child(path, at.key()));
    at = object.erase(at);
  }
}

void keep_only_in_items(Json& meta, std::string_view list, std::span<const std::string_view> known,
                        const std::string& path, std::vector<std::string>& dropped) {
  const auto found = meta.find(list);
  if (found == meta.end() || !found->is_array()) return;
  const std::string at = path_child(path, list);
  for (std::size_t i = 0; i < found->size(); ++i) {
    keep_only((*found)[i], known, path_index(at, i), dropped);
  }
}

bool left_out_when_written(const std::string& key, const Json& value) {
  if (value.is_null()) return true;
  if (value.is_structured()) return value.empty();
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return key == "generation" && value == Json(0);
}

}  // namespace

void prune_object_meta(Json& meta, const std::string& path, std::vector<std::string>& dropped) {
  if (!meta.is_object()) return;
  keep_only(meta, kMetaFields, path, dropped);
  keep_only_in_items(meta, "ownerReferences", kOwnerFields, path, dropped);
  keep_only_in_items(meta, "managedFields", kManagedFields, path, dropped);
  for (auto at = meta.begin(); at != meta.end();) {
    at = left_out_when_written(at.key(), at.value()) ? meta.erase(at) : std::next(at);
  }
}

}  // namespace amdahl::local
