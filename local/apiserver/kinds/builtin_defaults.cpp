#include "local/apiserver/kinds/builtin_defaults.hpp"

#include <array>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"

namespace amdahl::local {

namespace {

void default_node(Json& node) {
  // One network and the list of all of them.
  const std::string cidr = text_at(node, {"spec", "podCIDR"});
  if (!cidr.empty()) set_default(node["spec"], "podCIDRs", Json::array({cidr}));
  Json* status = member(node, "status");
  if (status == nullptr || map_at(*status, {"capacity"}).empty()) return;
  set_default(*status, "allocatable", map_at(*status, {"capacity"}));
}

void default_priority_class(Json& priority_class) {
  set_default(priority_class, "preemptionPolicy", "PreemptLowerPriority");
}

struct Row {
  std::string_view kind = {};
  void (*apply)(Json&) = nullptr;
};

constexpr std::array kRows = {
    Row{"Pod", default_pod},
    Row{"Service", default_service},
    Row{"Secret", default_secret},
    Row{"Namespace", default_namespace},
    Row{"Node", default_node},
    Row{"PersistentVolumeClaim", default_volume_claim},
    Row{"PersistentVolume", default_volume},
    Row{"Endpoints", default_endpoints},
    Row{"EndpointSlice", default_endpoint_slice},
    Row{"Deployment", default_deployment},
    Row{"ReplicaSet", default_replica_set},
    Row{"Job", default_job},
    Row{"RoleBinding", default_role_binding},
    Row{"ClusterRoleBinding", default_role_binding},
    Row{"PriorityClass", default_priority_class},
    Row{"CustomResourceDefinition", default_crd},
};

}  // namespace

void apply_defaults(const Kind& kind, Json& object) {
  if (!kind.builtin || !object.is_object()) return;
  for (const Row& row : kRows) {
    if (row.kind == kind.kind) return row.apply(object);
  }
}

}  // namespace amdahl::local
