#include "local/apiserver/rules/resource_info.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace amdahl::local {
namespace {

constexpr std::chrono::hours kEventLife{1};

constexpr std::string_view kUseSlices =
    "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";

// An update of these may create what is not there.
constexpr std::array<std::string_view, 8> kCreateOnUpdate = {
    "leases", "endpoints",    "events",       "services",
    "roles",  "clusterroles", "rolebindings", "clusterrolebindings"};
// An update of these must name the version it replaces.
constexpr std::array<std::string_view, 2> kConditionalUpdate = {"leases",
                                                                "customresourcedefinitions"};
// A delete of these answers with the object.
constexpr std::array<std::string_view, 6> kReturnsDeleted = {
    "pods",           "namespaces", "services", "persistentvolumeclaims", "persistentvolumes",
    "serviceaccounts"};

bool among(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

ResourceInfo resource_info(const Kind& kind) {
  const std::string& storage_group = kind.builtin ? kind.storage_group : kind.group;
  return {.group = kind.group,
          .version = kind.version,
          .plural = kind.plural,
          .kind = kind.kind,
          .list_kind = kind.list_kind,
          .storage = storage_group.empty() ? kind.plural : kind.plural + "." + storage_group,
          .namespaced = kind.namespaced,
          .custom = !kind.builtin,
          .has_status = kind.has_status,
          .has_scale = kind.has_scale,
          .stored = !kind.list_kind.empty(),
          .unconditional_update = kind.builtin && !among(kConditionalUpdate, kind.plural),
          .create_on_update = kind.builtin && among(kCreateOnUpdate, kind.plural),
          .returns_deleted = kind.builtin && among(kReturnsDeleted, kind.plural),
          .graceful_delete = kind.builtin && kind.plural == "pods",
          .orphans_by_default = kind.builtin && kind.plural == "jobs",
          .selects_fields = !kind.field_labels.empty(),
          .observed = kind.builtin && kind.plural == "customresourcedefinitions",
          .namesake = kind.builtin && kind.plural == "services" ? "endpoints" : "",
          .deprecated = kind.builtin && kind.plural == "endpoints" ? std::string(kUseSlices) : "",
          .ttl = kind.builtin && kind.plural == "events" ? kEventLife : std::chrono::seconds{0}};
}

}  // namespace amdahl::local
