// The built-in kinds as rows; see kind.hpp.
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "local/apiserver/kinds/kind.hpp"

namespace amdahl::local {

namespace {

enum class Serves : std::uint8_t { kAll, kAllButDeleteCollection, kCreate };
enum class Scope : std::uint8_t { kNamespace, kCluster };
enum class Generation : std::uint8_t { kNone, kCounted };

struct Row {
  std::string_view group = {};
  std::string_view kind = {};
  std::string_view plural = {};
  std::string_view short_names = {};  // separated by spaces
  std::string_view category = {};
  std::string_view subresources = {};  // names of kSubresources
  Scope scope = Scope::kNamespace;
  Generation generation = Generation::kNone;
  Serves serves = Serves::kAll;
};

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr std::string_view kAuthn = "authentication.k8s.io";
constexpr std::string_view kAuthz = "authorization.k8s.io";

constexpr std::array kRows = {
    Row{.kind = "ConfigMap", .plural = "configmaps", .short_names = "cm"},
    Row{.kind = "Endpoints", .plural = "endpoints", .short_names = "ep"},
    Row{.kind = "Event", .plural = "events", .short_names = "ev"},
    Row{.kind = "Namespace",
        .plural = "namespaces",
        .short_names = "ns",
        .subresources = "finalize status",
        .scope = Scope::kCluster,
        .serves = Serves::kAllButDeleteCollection},
    Row{.kind = "Node",
        .plural = "nodes",
        .short_names = "no",
        .subresources = "status",
        .scope = Scope::kCluster},
    Row{.kind = "PersistentVolume",
        .plural = "persistentvolumes",
        .short_names = "pv",
        .subresources = "status",
        .scope = Scope::kCluster},
    Row{.kind = "PersistentVolumeClaim",
        .plural = "persistentvolumeclaims",
        .short_names = "pvc",
        .subresources = "status"},
    Row{.kind = "Pod",
        .plural = "pods",
        .short_names = "po",
        .category = "all",
        .subresources = "binding eviction log status",
        .generation = Generation::kCounted},
    Row{.kind = "Secret", .plural = "secrets"},
    Row{.kind = "Service",
        .plural = "services",
        .short_names = "svc",
        .category = "all",
        .subresources = "status"},
    Row{.kind = "ServiceAccount",
        .plural = "serviceaccounts",
        .short_names = "sa",
        .subresources = "token"},
    Row{.group = "apiextensions.k8s.io",
        .kind = "CustomResourceDefinition",
        .plural = "customresourcedefinitions",
        .short_names = "crd crds",
        .category = "api-extensions",
        .subresources = "status",
        .scope = Scope::kCluster,
        .generation = Generation::kCounted},
    Row{.group = "apps",
        .kind = "Deployment",
        .plural = "deployments",
        .short_names = "deploy",
        .category = "all",
        .subresources = "scale status",
        .generation = Generation::kCounted},
    Row{.group = "apps",
        .kind = "ReplicaSet",
        .plural = "replicasets",
        .short_names = "rs",
        .category = "all",
        .subresources = "scale status",
        .generation = Generation::kCounted},
    Row{.group = kAuthn,
        .kind = "SelfSubjectReview",
        .plural = "selfsubjectreviews",
        .scope = Scope::kCluster,
        .serves = Serves::kCreate},
    Row{.group = kAuthn,
        .kind = "TokenReview",
        .plural = "tokenreviews",
        .scope = Scope::kCluster,
        .serves = Serves::kCreate},
    Row{.group = kAuthz,
        .kind = "LocalSubjectAccessReview",
        .plural = "localsubjectaccessreviews",
        .serves = Serves::kCreate},
    Row{.group = kAuthz,
        .kind = "SelfSubjectAccessReview",
        .plural = "selfsubjectaccessreviews",
        .scope = Scope::kCluster,
        .serves = Serves::kCreate},
    Row{.group = kAuthz,
        .kind = "SelfSubjectRulesReview",
        .plural = "selfsubjectrulesreviews",
        .scope = Scope::kCluster,
        .serves = Serves::kCreate},
    Row{.group = kAuthz,
        .kind = "SubjectAccessReview",
        .plural = "subjectaccessreviews",
        .scope = Scope::kCluster,
        .serves = Serves::kCreate},
    Row{.group = "batch",
        .kind = "Job",
        .plural = "jobs",
        .category = "all",
        .subresources = "status",
        .generation = Generation::kCounted},
    Row{.group = "coordination.k8s.io", .kind = "Lease", .plural = "leases"},
    Row{.group = "discovery.k8s.io",
        .kind = "EndpointSlice",
        .plural = "endpointslices",
        .generation = Generation::kCounted},
    Row{.group = "events.k8s.io", .kind = "Event", .plural = "events", .short_names = "ev"},
    Row{.group = kRbac, .kind = "ClusterRole", .plural = "clusterroles", .scope = Scope::kCluster},
    Row{.group = kRbac,
        .kind = "ClusterRoleBinding",
        .plural = "clusterrolebindings",
        .scope = Scope::kCluster},
    Row{.group = kRbac, .kind = "Role", .plural = "roles"},
    Row{.group = kRbac, .kind = "RoleBinding", .plural = "rolebindings"},
    Row{.group = "scheduling.k8s.io",
        .kind = "PriorityClass",
        .plural = "priorityclasses",
        .short_names = "pc",
        .scope = Scope::kCluster,
        .generation = Generation::kCounted},
};

struct SubresourceRow {
  std::string_view name = {};
  std::string_view kind = {};  // "" is the resource's own
  std::string_view group = {};
  std::string_view version = {};
  std::string_view verbs = {};
};

constexpr std::array kSubresources = {
    SubresourceRow{.name = "binding", .kind = "Binding", .verbs = "create"},
    SubresourceRow{.name = "eviction",
                   .kind = "Eviction",
                   .group = "policy",
                   .version = "v1",
                   .verbs = "create"},
    SubresourceRow{.name = "finalize", .verbs = "update"},
    SubresourceRow{.name = "log", .verbs = "get"},
    SubresourceRow{.name = "scale",
                   .kind = "Scale",
                   .group = "autoscaling",
                   .version = "v1",
                   .verbs = "get patch update"},
    SubresourceRow{.name = "status", .verbs = "get patch update"},
    SubresourceRow{.name = "token",
                   .kind = "TokenRequest",
                   .group = kAuthn,
                   .version = "v1",
                   .verbs = "create"},
};

struct LabelsRow {
  std::string_view api_version = {};
  std::string_view kind = {};
  std::string_view labels = {};
};

constexpr std::array kFieldLabels = {
    LabelsRow{"v1", "Event",
              "involvedObject.kind involvedObject.namespace involvedObject.name involvedObject.uid "
              "involvedObject.apiVersion involvedObject.resourceVersion involvedObject.fieldPath "
              "reason reportingComponent source type"},
    LabelsRow{"events.k8s.io/v1", "Event",
              "reason regarding.kind regarding.namespace regarding.name regarding.uid "
              "regarding.apiVersion regarding.resourceVersion regarding.fieldPath "
              "reportingController type"},
    LabelsRow{"v1", "Namespace", "status.phase"},
    LabelsRow{"v1", "Node", "spec.unschedulable"},
    LabelsRow{"v1", "Pod",
              "spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName "
              "spec.hostNetwork status.phase status.podIP status.podIPs status.nominatedNodeName"},
    LabelsRow{"v1", "Secret", "type"},
    LabelsRow{"v1", "Service", "spec.clusterIP spec.type"},
    LabelsRow{"batch/v1", "Job", "status.successful"},
};

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::string_view verbs_of(Serves serves) {
  switch (serves) {
    case Serves::kCreate:
      return "create";
    case Serves::kAllButDeleteCollection:
      return "create delete get list patch update watch";
    case Serves::kAll:
      break;
  }
  return "create delete deletecollection get list patch update watch";
}

void add_subresources(Kind& kind, std::string_view names) {
  for (const std::string& name : words(names)) {
    for (const SubresourceRow& row : kSubresources) {
      if (row.name != name) continue;
      kind.subresources.push_back({.name = name,
                                   .kind = row.kind.empty() ? kind.kind : std::string(row.kind),
                                   .group = std::string(row.group),
                                   .version = std::string(row.version),
                                   .verbs = words(row.verbs)});
    }
  }
  kind.has_status = kind.subresource("status") != nullptr;
  kind.has_scale = kind.subresource("scale") != nullptr;
}

Kind make(const Row& row) {
  Kind kind{.group = std::string(row.group),
            .version = "v1",
            .kind = std::string(row.kind),
            .plural = std::string(row.plural),
            .short_names = words(row.short_names),
            .categories = words(row.category),
            .namespaced = row.scope == Scope::kNamespace,
            .builtin = true,
            .has_generation = row.generation == Generation::kCounted,
            .verbs = words(verbs_of(row.serves))};
  for (const char c : kind.kind) {
    kind.singular += (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (row.serves != Serves::kCreate) kind.list_kind = kind.kind + "List";
  add_subresources(kind, row.subresources);
  for (const LabelsRow& labels : kFieldLabels) {
    if (labels.kind == kind.kind && labels.api_version == kind.api_version()) {
      kind.field_labels = words(labels.labels);
    }
  }
  kind.storage_group = row.group == "events.k8s.io" ? std::string() : kind.group;
  kind.storage_version = "v1";
  return kind;
}

}  // namespace

std::vector<Kind> builtin_kinds() {
  std::vector<Kind> kinds;
  kinds.reserve(kRows.size());
  for (const Row& row : kRows) kinds.push_back(make(row));
  return kinds;
}

}  // namespace amdahl::local
