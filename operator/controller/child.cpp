#include "operator/controller/child.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace amdahl::controller {
namespace {

// FNV-1a: stable between builds and machines, which std::hash is not.
std::uint32_t stable_hash(std::string_view text) {
  std::uint32_t hash = 2'166'136'261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  return hash;
}

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::string child_name(std::string_view owner, const ChildRole& which) {
  std::string name(owner);
  if (!which.role.empty()) name += fmt::format("-{}", which.role);
  if (which.attempt) name += fmt::format("-{}", *which.attempt);
  if (which.index) name += fmt::format("-{}", *which.index);
  if (name.size() <= kChildNameMax) return name;
  const std::string hash = fmt::format("{:08x}", stable_hash(name));
  name.resize(kChildNameMax - hash.size() - 1);
  while (name.ends_with('-') || name.ends_with('.')) name.pop_back();
  return name + "-" + hash;
}

Result<void> set_owner(Json& object, const OwnerObject& owner) {
  Json& metadata = object["metadata"];
  const std::string name = text_at(metadata, "name");
  const std::string ns = text_at(metadata, "namespace");
  if (name.empty()) return fail(Errc::kInvalid, "a child of {} has no name", to_string(owner.key));
  if (owner.uid.empty())
    return fail(Errc::kInvalid, "{} cannot own {}: its UID is unknown", to_string(owner.key), name);
  if (!owner.key.ns.empty() && !ns.empty() && ns != owner.key.ns)
    return fail(Errc::kInvalid, "{}/{} cannot be owned from namespace {}", ns, name, owner.key.ns);
  if (!owner.key.ns.empty()) metadata["namespace"] = owner.key.ns;
  for (const Json& other : metadata.value("ownerReferences", Json::array()))
    if (other.value("controller", false) && text_at(other, "uid") != owner.uid)
      return fail(Errc::kInvalid, "{} already names {} {} as its controller", name,
                  text_at(other, "kind"), text_at(other, "name"));
  metadata["ownerReferences"] = Json::array({{{"apiVersion", owner.resource.api_version()},
                                              {"kind", owner.resource.kind},
                                              {"name", owner.key.name},
                                              {"uid", owner.uid},
                                              {"controller", true},
                                              {"blockOwnerDeletion", true}}});
  return {};
}

LiveObject live_object(const Json& object) {
  LiveObject live;
  if (!object.is_object() || !object.contains("metadata") || !object["metadata"].is_object())
    return live;
  const Json& metadata = object["metadata"];
  live.uid = text_at(metadata, "uid");
  live.version = text_at(metadata, "resourceVersion");
  live.deleting = !text_at(metadata, "deletionTimestamp").empty();
  const auto owners = metadata.find("ownerReferences");
  if (owners == metadata.end() || !owners->is_array()) return live;
  for (const Json& owner : *owners) {
    const auto controls = owner.find("controller");
    if (controls == owner.end() || *controls != true) continue;
    live.controller = Owner{.kind = text_at(owner, "kind"),
                            .name = text_at(owner, "name"),
                            .uid = text_at(owner, "uid")};
  }
  return live;
}

}  // namespace amdahl::controller
