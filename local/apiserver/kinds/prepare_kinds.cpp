#include "local/apiserver/kinds/prepare_kinds.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "local/apiserver/kinds/builtin_rules.hpp"
#include "local/apiserver/kinds/json_access.hpp"

namespace amdahl::local {

namespace {

// Appends a text to object[name] unless it is there.
void add_text(Json& object, std::string_view name, std::string_view text) {
  Json& list = object[std::string(name)];
  if (!list.is_array()) list = Json::array();
  if (std::ranges::find(list, Json(text)) == list.end()) list.push_back(text);
}

void default_families(Json& spec) {
  const bool headless = text_at(spec, {"clusterIP"}) == "None";
  if (headless && map_at(spec, {"selector"}).empty()) {
    set_default(spec, "ipFamilyPolicy", "RequireDualStack");
    set_default(spec, "ipFamilies", Json::array({"IPv4", "IPv6"}));
    return;
  }
  set_default(spec, "ipFamilyPolicy", "SingleStack");
  set_default(spec, "ipFamilies", Json::array({"IPv4"}));
}

void add_job_label(Json& labels, std::string_view name, const std::string& value) {
  set_default(labels, name, value);
}

Json condition(std::string_view type, std::string_view time, std::string_view reason,
               std::string_view message) {
  return {{"type", type},
          {"status", "True"},
          {"lastTransitionTime", time},
          {"reason", reason},
          {"message", message}};
}

}  // namespace

void prepare_service(Json& service) {
  service["status"] = {{"loadBalancer", Json::object()}};
  Json* spec = make_object(service, "spec");
  if (spec == nullptr || text_at(*spec, {"type"}) == "ExternalName") return;
  const std::string address = text_at(*spec, {"clusterIP"});
  if (!address.empty()) set_default(*spec, "clusterIPs", Json::array({address}));
  default_families(*spec);
}

// A writer that does not know the allocated values must not lose them.
void keep_allocated(const Json& old, Json& service) {
  Json* spec = make_object(service, "spec");
  const Json& before = map_at(old, {"spec"});
  if (spec == nullptr || text_at(*spec, {"type"}) == "ExternalName") return;
  for (const std::string_view name : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
    if (const Json* value = member(before, name); value != nullptr) {
      set_default(*spec, name, *value);
    }
  }
  const std::string type = text_at(*spec, {"type"});
  Json* ports = member(*spec, "ports");
  if (ports == nullptr || !ports->is_array() || (type != "NodePort" && type != "LoadBalancer")) {
    return;
  }
  for (Json& port : *ports) {
    for (const Json& known : list_at(before, {"ports"})) {
      const bool same = number_at(known, {"port"}) == number_at(port, {"port"}) &&
                        text_at(known, {"protocol"}) == text_at(port, {"protocol"});
      const auto node_port = number_at(known, {"nodePort"});
      if (same && node_port) set_default(port, "nodePort", *node_port);
    }
  }
}

void prepare_namespace(Json& ns) {
  ns["status"] = {{"phase", "Active"}};
  if (Json* spec = make_object(ns, "spec"); spec != nullptr) {
    add_text(*spec, "finalizers", "kubernetes");
  }
}

// Until somebody says that the node is ready, nothing is put there.
void prepare_node(Json& node) {
  Json* spec = make_object(node, "spec");
  if (spec == nullptr) return;
  const Json taint = {{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoSchedule"}};
  Json& taints = (*spec)["taints"];
  if (!taints.is_array()) taints = Json::array();
  const auto same = [](const Json& found) {
    return text_at(found, {"key"}) == "node.kubernetes.io/not-ready" &&
           text_at(found, {"effect"}) == "NoSchedule";
  };
  if (std::ranges::none_of(taints, same)) taints.push_back(taint);
}

void prepare_volume_claim(Json& claim) {
  claim["status"] = {{"phase", "Pending"}};
  add_text(claim["metadata"], "finalizers", "kubernetes.io/pvc-protection");
}

void prepare_volume(Json& volume) {
  volume["status"] = {{"phase", "Pending"}};
  const std::string time = text_at(volume, {"metadata", "creationTimestamp"});
  if (!time.empty()) volume["status"]["lastPhaseTransitionTime"] = time;
  add_text(volume["metadata"], "finalizers", "kubernetes.io/pv-protection");
}

void prepare_deployment(Json& deployment) {
  deployment["status"] = Json::object();
}

void prepare_replica_set(Json& set) {
  set["status"] = {{"replicas", 0}};
}

void prepare_job(Json& job) {
  job["status"] = Json::object();
  Json* spec = make_object(job, "spec");
  if (spec == nullptr || flag_at(*spec, {"manualSelector"})) return;
  Json* pod = make_object(*spec, "template");
  Json* metadata = pod == nullptr ? nullptr : make_object(*pod, "metadata");
  Json* labels = metadata == nullptr ? nullptr : make_object(*metadata, "labels");
  Json* selector = make_object(*spec, "selector");
  Json* matches = selector == nullptr ? nullptr : make_object(*selector, "matchLabels");
  if (labels == nullptr || matches == nullptr) return;
  const std::string name = text_at(job, {"metadata", "name"});
  const std::string uid = text_at(job, {"metadata", "uid"});
  // A job without labels of its own shows those of its template.
  const auto own = map_at(job, {"metadata", "labels"});
  const bool shared = own.empty() || own == *labels;
  add_job_label(*labels, "job-name", name);
  add_job_label(*labels, "batch.kubernetes.io/job-name", name);
  add_job_label(*labels, "controller-uid", uid);
  add_job_label(*labels, "batch.kubernetes.io/controller-uid", uid);
  add_job_label(*matches, "batch.kubernetes.io/controller-uid", uid);
  if (shared) job["metadata"]["labels"] = Json(*labels);
}

void prepare_crd(Json& crd) {
  Json stored = Json::array();
  for (const Json& version : list_at(crd, {"spec", "versions"})) {
    const Json name = text_at(version, {"name"});
    const bool known = std::ranges::find(stored, name) != stored.end();
    if (flag_at(version, {"storage"}) && !known) stored.push_back(name);
  }
  crd["status"] = {{"conditions", nullptr},
                   {"acceptedNames", {{"plural", ""}, {"kind", ""}}},
                   {"storedVersions", std::move(stored)}};
}

void establish_crd(Json& crd, std::string_view time) {
  Json* status = make_object(crd, "status");
  if (status == nullptr) return;
  (*status)["acceptedNames"] = map_at(crd, {"spec", "names"});
  Json& conditions = (*status)["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  const auto set = [&](const Json& wanted) {
    for (Json& found : conditions) {
      if (text_at(found, {"type"}) != text_at(wanted, {"type"})) continue;
      if (text_at(found, {"status"}) != "True") found = wanted;
      return;
    }
    conditions.push_back(wanted);
  };
  set(condition("NamesAccepted", time, "NoConflicts", "no conflicts found"));
  set(condition("Established", time, "InitialNamesAccepted",
                "the initial names have been accepted"));
  for (const Json& version : list_at(crd, {"spec", "versions"})) {
    if (flag_at(version, {"storage"})) {
      add_text(*status, "storedVersions", text_at(version, {"name"}));
    }
  }
}

}  // namespace amdahl::local
