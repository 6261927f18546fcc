#include "local/cluster/bootstrap_objects.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/check.hpp"
#include "base/fields.hpp"
#include "local/scheduler/volcano_crds.hpp"

namespace amdahl::local {
namespace {

constexpr int kOk = 200;
constexpr int kCreated = 201;
constexpr int kConflict = 409;
constexpr std::string_view kRbac = "/apis/rbac.authorization.k8s.io/v1/";
constexpr std::string_view kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr std::string_view kManager = "kube-apiserver";

Json labelled(std::string_view name) {
  return {{"name", name}, {"labels", {{"kubernetes.io/bootstrapping", "rbac-defaults"}}}};
}

Json rule(std::initializer_list<std::string_view> groups,
          std::initializer_list<std::string_view> resources,
          std::initializer_list<std::string_view> verbs) {
  return {{"apiGroups", groups}, {"resources", resources}, {"verbs", verbs}};
}

Json role(std::string_view name, const Json& rules) {
  return {{"metadata", labelled(name)}, {"rules", rules}};
}

Json binding(std::string_view name, std::string_view role_name, std::string_view group) {
  return {
      {"metadata", labelled(name)},
      {"roleRef",
       {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", role_name}}},
      {"subjects",
       {{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "Group"}, {"name", group}}}}};
}

// What users of a namespace work with; admin adds roles, view takes writing and secrets away.
Json namespaced_rules(std::initializer_list<std::string_view> verbs, bool secrets) {
  Json rules = Json::array();
  rules.push_back(rule({""},
                       {"configmaps", "endpoints", "events", "persistentvolumeclaims", "pods",
                        "pods/log", "pods/status", "serviceaccounts", "services"},
                       verbs));
  if (secrets) rules.push_back(rule({""}, {"secrets"}, verbs));
  rules.push_back(rule({"apps"}, {"deployments", "deployments/scale"}, verbs));
  rules.push_back(rule({"batch"}, {"jobs"}, verbs));
  rules.push_back(rule({"coordination.k8s.io"}, {"leases"}, verbs));
  return rules;
}

void add_roles(std::vector<BootstrapObject>& objects) {
  const auto reads = {std::string_view("get"), std::string_view("list"), std::string_view("watch")};
  const std::initializer_list<std::string_view> all = {
      "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  Json everything = Json::array({rule({"*"}, {"*"}, {"*"})});
  everything.push_back({{"nonResourceURLs", {"*"}}, {"verbs", {"*"}}});
  Json admin = namespaced_rules(all, true);
  admin.push_back(rule({"rbac.authorization.k8s.io"}, {"roles", "rolebindings"}, all));
  const Json documents = {{{"nonResourceURLs",
                            {"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi",
                             "/openapi/*", "/readyz", "/version", "/version/"}},
                           {"verbs", {"get"}}}};
  const std::string roles = std::string(kRbac) + "clusterroles";
  const auto add = [&](std::string_view name, const Json& rules) {
    objects.push_back({roles, role(name, rules).dump()});
  };
  add("cluster-admin", everything);
  add("admin", admin);
  add("edit", namespaced_rules(all, true));
  add("view", namespaced_rules(reads, false));
  add("system:discovery", documents);
  const std::string bindings = std::string(kRbac) + "clusterrolebindings";
  objects.push_back({bindings, binding("cluster-admin", "cluster-admin", "system:masters").dump()});
  objects.push_back(
      {bindings, binding("system:discovery", "system:discovery", "system:authenticated").dump()});
}

Json priority_class(std::string_view name, std::int64_t value, std::string_view description) {
  return {{"metadata", {{"name", name}}}, {"value", value}, {"description", description}};
}

void add_gang_kinds(std::vector<BootstrapObject>& objects) {
  for (const Json& crd : volcano_crd_manifests())
    objects.push_back({.collection = std::string(kDefinitions),
                       .text = crd.dump(),
                       .applied = crd["metadata"]["name"]});
  objects.push_back(
      {"/apis/scheduling.volcano.sh/v1beta1/queues", default_queue_manifest().dump()});
}

Call call_for(const BootstrapObject& object) {
  Call call{.method = "POST",
            .target = object.collection,
            .content_type = "application/json",
            .user_agent = std::string(kManager),
            .body = object.text,
            .user = {.name = "system:apiserver", .groups = {}}};
  if (object.applied.empty()) return call;
  call.method = "PATCH";
  call.target += fmt::format("/{}?fieldManager={}&force=true", object.applied, kManager);
  call.content_type = "application/apply-patch+yaml";
  return call;
}

}  // namespace

std::vector<BootstrapObject> bootstrap_objects(std::uint16_t port) {
  std::vector<BootstrapObject> objects;
  for (const std::string_view name : {"default", "kube-system", "kube-public", "kube-node-lease"})
    objects.push_back({"/api/v1/namespaces", Json{{"metadata", {{"name", name}}}}.dump()});
  const std::string classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
  objects.push_back(
      {classes, priority_class("system-cluster-critical", 2'000'000'000,
                               "Used for system critical pods that must run in the "
                               "cluster, but can be moved to another node if necessary.")
                    .dump()});
  objects.push_back({classes, priority_class("system-node-critical", 2'000'001'000,
                                             "Used for system critical pods that must not be moved "
                                             "from their current node.")
                                  .dump()});
  add_roles(objects);
  const Json service = {{"apiVersion", "v1"},
                        {"kind", "Service"},
                        {"metadata",
                         {{"name", "kubernetes"},
                          {"labels", {{"component", "apiserver"}, {"provider", "kubernetes"}}}}},
                        {"spec",
                         {{"clusterIP", "127.0.0.1"},
                          {"ports", {{{"name", "https"}, {"port", port}, {"targetPort", port}}}}}}};
  objects.push_back({.collection = "/api/v1/namespaces/default/services",
                     .text = service.dump(),
                     .applied = "kubernetes"});  // the port may be another one than last time
  add_gang_kinds(objects);
  return objects;
}

Result<void> make_bootstrap_objects(ApiServer& server, std::uint16_t port,
                                    std::span<const std::string> definitions, WallTime now) {
  std::vector<BootstrapObject> objects = bootstrap_objects(port);
  for (const std::string& text : definitions) {
    const Json crd = Json::parse(text, nullptr, false);
    const Json::json_pointer name("/metadata/name");
    AMDAHL_CHECK(crd.is_object() && crd.contains(name));  // they come from our own programs
    objects.push_back(
        {.collection = std::string(kDefinitions), .text = text, .applied = crd[name]});
  }
  for (const BootstrapObject& object : objects) {
    const Reply reply = server.handle(call_for(object), now);
    if (reply.status != kOk && reply.status != kCreated && reply.status != kConflict)
      return fail(Errc::kInvalid, "create in {}: {}", object.collection, reply.body);
  }
  return {};
}

}  // namespace amdahl::local
