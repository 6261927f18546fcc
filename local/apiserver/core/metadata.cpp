#include "local/apiserver/core/metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.hpp"

namespace amdahl::local {
namespace {

constexpr std::array kTexts = {
    "name",     "generateName",    "namespace",         "uid",
    "selfLink", "resourceVersion", "creationTimestamp", "deletionTimestamp"};
constexpr std::array kNumbers = {"generation", "deletionGracePeriodSeconds"};
constexpr std::array kTextMaps = {"labels", "annotations"};

const char* go_kind(const Json& json) {
  switch (json.type()) {
    case Json::value_t::object:
      return "object";
    case Json::value_t::array:
      return "array";
    case Json::value_t::string:
      return "string";
    case Json::value_t::boolean:
      return "bool";
    default:
      return "number";
  }
}

Status wrong_type(const Json& json, std::string_view path, std::string_view wanted) {
  return bad_request(
      fmt::format("json: cannot unmarshal {} into Go struct field ObjectMeta.{} of type {}",
                  go_kind(json), path, wanted));
}

Outcome<Done> check_text_map(const Json& json, const std::string& path) {
  if (!json.is_object()) return wrong_type(json, path, "map[string]string");
  for (const Json& value : json)
    if (!value.is_string()) return wrong_type(value, path, "string");
  return Done{};
}

Outcome<Done> check_owners(Json& meta) {
  const auto found = meta.find("ownerReferences");
  if (found == meta.end()) return Done{};
  if (!found->is_array() || found->size() > kOwnerReferencesMax)
    return wrong_type(*found, "metadata.ownerReferences", "[]v1.OwnerReference");
  for (Json& one : *found) {
    if (!one.is_object()) return wrong_type(one, "metadata.ownerReferences", "v1.OwnerReference");
    for (const char* key : {"apiVersion", "kind", "name", "uid"})
      if (one.contains(key) && !one[key].is_string())
        return wrong_type(one[key], std::string("metadata.ownerReferences.") + key, "string");
    for (const char* key : {"controller", "blockOwnerDeletion"}) {
      if (one.contains(key) && one[key].is_null()) one.erase(key);
      if (one.contains(key) && !one[key].is_boolean())
        return wrong_type(one[key], std::string("metadata.ownerReferences.") + key, "bool");
    }
  }
  return Done{};
}

Outcome<Done> check_scalars(const Json& meta) {
  for (const char* key : kTexts)
    if (const auto found = meta.find(key); found != meta.end() && !found->is_string())
      return wrong_type(*found, std::string("metadata.") + key, "string");
  for (const char* key : kNumbers)
    if (const auto found = meta.find(key); found != meta.end() && !found->is_number_integer())
      return wrong_type(*found, std::string("metadata.") + key, "int64");
  for (const char* key : kTextMaps)
    if (const auto found = meta.find(key); found != meta.end())
      OUTCOME_CHECK(check_text_map(*found, std::string("metadata.") + key));
  return Done{};
}

Outcome<Done> check_times(const Json& meta) {
  for (const char* key : {"creationTimestamp", "deletionTimestamp"}) {
    const auto found = meta.find(key);
    if (found == meta.end()) continue;
    if (!parse_time(found->get_ref<const std::string&>()))
      return bad_request(fmt::format("parsing time in metadata.{}: it is not RFC 3339", key));
  }
  return Done{};
}

Outcome<Done> check_list(const Json& meta, const char* key, std::string_view item,
                         bool (Json::*fits)() const noexcept) {
  const auto found = meta.find(key);
  if (found == meta.end()) return Done{};
  const std::string path = std::string("metadata.") + key;
  if (!found->is_array()) return wrong_type(*found, path, fmt::format("[]{}", item));
  for (const Json& one : *found)
    if (!(one.*fits)()) return wrong_type(one, path, item);
  return Done{};
}

Outcome<Done> check_lists(const Json& meta) {
  OUTCOME_CHECK(check_list(meta, "finalizers", "string", &Json::is_string));
  OUTCOME_CHECK(check_list(meta, "managedFields", "v1.ManagedFieldsEntry", &Json::is_object));
  const auto found = meta.find("finalizers");
  if (found != meta.end() && found->size() > kFinalizersMax)
    return wrong_type(*found, "metadata.finalizers", "[]string");
  return Done{};
}

}  // namespace

Outcome<Done> check_metadata(Json& object) {
  Json& meta = object["metadata"];
  if (meta.is_null()) meta = Json::object();
  if (!meta.is_object()) return wrong_type(meta, "metadata", "v1.ObjectMeta");
  for (auto at = meta.begin(); at != meta.end();) at = at->is_null() ? meta.erase(at) : ++at;
  for (const char* key : kTextMaps)
    if (const auto found = meta.find(key); found != meta.end() && found->is_object())
      for (Json& value : *found)
        if (value.is_null()) value = "";  // as Go reads it
  if (const auto found = meta.find("finalizers"); found != meta.end() && found->is_array())
    for (Json& one : *found)
      if (one.is_null()) one = "";
  OUTCOME_CHECK(check_scalars(meta));
  OUTCOME_CHECK(check_times(meta));
  OUTCOME_CHECK(check_lists(meta));
  OUTCOME_CHECK(check_owners(meta));
  meta.erase("selfLink");
  return Done{};
}

Json& metadata_of(Json& object) {
  const auto found = object.find("metadata");
  AMDAHL_CHECK(found != object.end() && found->is_object());
  return *found;
}

const Json& metadata_of(const Json& object) {
  const auto found = object.find("metadata");
  AMDAHL_CHECK(found != object.end() && found->is_object());
  return *found;
}

std::string text_at(const Json& json, const char* key) {
  if (!json.is_object()) return {};
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::int64_t> number_at(const Json& json, const char* key) {
  if (!json.is_object()) return std::nullopt;
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

std::vector<std::string> finalizers_of(const Json& meta) {
  std::vector<std::string> finalizers;
  const auto found = meta.find("finalizers");
  if (found == meta.end() || !found->is_array()) return finalizers;
  for (const Json& one : *found)
    if (one.is_string()) finalizers.push_back(one.get<std::string>());
  return finalizers;
}

void set_finalizers(Json& meta, const std::vector<std::string>& finalizers) {
  if (finalizers.empty())
    meta.erase("finalizers");
  else
    meta["finalizers"] = finalizers;
}

bool remove_finalizer(Json& meta, std::string_view finalizer) {
  std::vector<std::string> finalizers = finalizers_of(meta);
  if (std::erase(finalizers, finalizer) == 0) return false;
  set_finalizers(meta, finalizers);
  return true;
}

void wipe_system_fields(Json& meta) {
  for (const char* key : {"uid", "creationTimestamp", "deletionTimestamp",
                          "deletionGracePeriodSeconds", "generation", "selfLink"})
    meta.erase(key);
}

}  // namespace amdahl::local
