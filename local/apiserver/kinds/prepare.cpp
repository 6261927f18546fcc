// What a writer may not set; see builtin_rules.hpp.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "local/apiserver/kinds/builtin_rules.hpp"
#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/prepare_kinds.hpp"

namespace amdahl::local {

namespace {

void restore(Json& object, const Json& old, std::string_view name) {
  if (const Json* value = member(old, name); value != nullptr) {
    Json& kept = object[std::string(name)];
    if (kept != *value) kept = *value;  // to compare is far cheaper than to copy
  } else {
    object.erase(std::string(name));
  }
}

Json taken(Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return {};
  Json value = std::move(*found);
  object.erase(found);
  return value;
}

// Makes it equal to the old one, but for these members, which stay as they are.
void become(Json& object, const Json& old, std::initializer_list<std::string_view> except) {
  const auto kept = [&](const std::string& name) {
    return std::ranges::find(except, name) != except.end();
  };
  auto& members = object.get_ref<Json::object_t&>();
  std::erase_if(members, [&](const auto& one) {
    return !kept(one.first) && member(old, one.first) == nullptr;
  });
  for (const auto& [name, value] : old.get_ref<const Json::object_t&>())
    if (!kept(name)) restore(object, old, name);
}

void restore_meta(Json& object, const Json& old, std::string_view name) {
  if (Json* metadata = make_object(object, "metadata"); metadata != nullptr) {
    restore(*metadata, map_at(old, {"metadata"}), name);
  }
}

bool differs(const Json& a, const Json& b, std::string_view name) {
  const Json* left = member(a, name);
  const Json* right = member(b, name);
  if (left == nullptr || right == nullptr) return left != right;
  return *left != *right;
}

// Everything a user may want changed: what is neither metadata nor status.
bool desired_differs(const Json& a, const Json& b, bool with_status) {
  const auto strip = [&](Json copy) {
    copy.erase("metadata");
    copy.erase("apiVersion");
    copy.erase("kind");
    if (!with_status) copy.erase("status");
    return copy;
  };
  return strip(a) != strip(b);
}

bool bumps_generation(const Kind& kind, const Json& old, const Json& object) {
  if (!kind.builtin) return desired_differs(old, object, !kind.has_status);
  if (kind.kind == "PriorityClass") return false;
  if (kind.kind == "EndpointSlice") {
    return desired_differs(old, object, true) ||
           map_at(old, {"metadata", "labels"}) != map_at(object, {"metadata", "labels"});
  }
  if (differs(old, object, "spec")) return true;
  return kind.kind == "Deployment" &&
         map_at(old, {"metadata", "annotations"}) != map_at(object, {"metadata", "annotations"});
}

void count_generation(const Kind& kind, const Json& old, Json& object) {
  restore_meta(object, old, "generation");
  if (!kind.has_generation || !bumps_generation(kind, old, object)) return;
  object["metadata"]["generation"] = number_at(old, {"metadata", "generation"}).value_or(0) + 1;
}

using Prepare = void (*)(Json&);
struct Row {
  std::string_view kind = {};
  Prepare create = nullptr;
};

constexpr std::array kCreate = {
    Row{"Pod", prepare_pod},
    Row{"Service", prepare_service},
    Row{"Namespace", prepare_namespace},
    Row{"Node", prepare_node},
    Row{"PersistentVolumeClaim", prepare_volume_claim},
    Row{"PersistentVolume", prepare_volume},
    Row{"Deployment", prepare_deployment},
    Row{"ReplicaSet", prepare_replica_set},
    Row{"Job", prepare_job},
    Row{"CustomResourceDefinition", prepare_crd},
};

}  // namespace

void prepare_create(const Kind& kind, Json& object) {
  Json* metadata = make_object(object, "metadata");
  if (metadata == nullptr) return;
  metadata->erase("deletionTimestamp");
  metadata->erase("deletionGracePeriodSeconds");
  metadata->erase("selfLink");
  if (kind.has_generation) (*metadata)["generation"] = 1;
  if (!kind.builtin) {
    if (kind.has_status) object.erase("status");
    return;
  }
  for (const Row& row : kCreate) {
    if (row.kind == kind.kind) row.create(object);
  }
}

void prepare_update(const Kind& kind, const Json& old, Json& object) {
  if (make_object(object, "metadata") == nullptr) return;
  restore_meta(object, old, "creationTimestamp");
  // What the writer left out; a value of the writer's own is for the rules to refuse.
  for (const std::string_view name : {"uid", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    if (at(object, {"metadata", name}) == nullptr) restore_meta(object, old, name);
  }
  if (Json* metadata = make_object(object, "metadata"); metadata != nullptr) {
    metadata->erase("selfLink");
  }
  if (kind.has_status) restore(object, old, "status");
  if (kind.builtin) {
    if (kind.kind == "Namespace") restore(object, old, "spec");  // only finalize changes it
    if (kind.kind == "Service") keep_allocated(old, object);
    if (kind.kind == "Pod") keep_admitted(old, object);
  }
  count_generation(kind, old, object);
}

void prepare_status_update(const Kind& kind, const Json& old, Json& object) {
  if (!object.is_object() || !old.is_object()) return;
  Json status = taken(object, "status");
  Json metadata = taken(object, "metadata");
  if (!metadata.is_object()) metadata = Json::object();
  become(object, old, {"status", "metadata"});
  if (!status.is_null()) object["status"] = std::move(status);
  if (!kind.builtin || kind.kind == "CustomResourceDefinition") {
    // Only who manages which field may change with a status.
    become(metadata, map_at(old, {"metadata"}), {"managedFields"});
  } else {
    for (const std::string_view name : {"uid", "creationTimestamp", "deletionTimestamp",
                                        "deletionGracePeriodSeconds", "generation"}) {
      restore(metadata, map_at(old, {"metadata"}), name);
    }
    if (kind.kind == "Pod") restore(metadata, map_at(old, {"metadata"}), "ownerReferences");
    if (kind.kind == "Deployment") restore(metadata, map_at(old, {"metadata"}), "labels");
  }
  object["metadata"] = std::move(metadata);
  // Versions are compared by whoever stores the object.
  if (kind.builtin && kind.kind == "Pod") keep_pod_status(old, object);
}

}  // namespace amdahl::local
