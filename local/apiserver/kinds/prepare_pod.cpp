// What the server does to a pod before storing it; see builtin_rules.hpp.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/prepare_kinds.hpp"
#include "operator/kube/quantity.hpp"

namespace amdahl::local {

namespace {

constexpr int kTolerationSeconds = 300;

bool tolerates(const Json& pod, std::string_view taint) {
  return std::ranges::any_of(list_at(pod, {"spec", "tolerations"}), [&](const Json& toleration) {
    const std::string key = text_at(toleration, {"key"});
    const std::string effect = text_at(toleration, {"effect"});
    return (key.empty() || key == taint) && (effect.empty() || effect == "NoExecute");
  });
}

// The amount of cpu or memory, nothing when it is absent or zero: zero does not count for QoS.
Json counted(const Json& container, std::string_view kind, std::string_view resource) {
  std::string text = text_at(container, {"resources", kind, resource});
  if (text.empty()) return nullptr;
  const auto amount = kube::Quantity::parse(text);
  if (!amount || amount->is_zero()) return nullptr;
  return text;
}

bool same_amount(const Json& a, const Json& b) {
  const auto left = kube::Quantity::parse(a.get_ref<const std::string&>());
  const auto right = kube::Quantity::parse(b.get_ref<const std::string&>());
  return left && right && *left == *right;
}

struct Qos {
  bool any = false;
  bool guaranteed = true;
};

void look_at(const Json& container, Qos& qos) {
  for (const std::string_view resource : {"cpu", "memory"}) {
    const Json request = counted(container, "requests", resource);
    const Json limit = counted(container, "limits", resource);
    if (!request.is_null() || !limit.is_null()) qos.any = true;
    if (limit.is_null() || (!request.is_null() && !same_amount(request, limit))) {
      qos.guaranteed = false;
    }
  }
}

void add_gated_condition(Json& pod) {
  if (list_at(pod, {"spec", "schedulingGates"}).empty()) return;
  pod["status"]["conditions"] =
      Json::array({{{"type", "PodScheduled"},
                    {"status", "False"},
                    {"lastProbeTime", nullptr},
                    {"lastTransitionTime", text_at(pod, {"metadata", "creationTimestamp"})},
                    {"reason", "SchedulingGated"},
                    {"message", "Scheduling is blocked due to non-empty scheduling gates"}}});
}

}  // namespace

std::string qos_class(const Json& pod) {
  Qos qos;
  for (const std::string_view list : {"containers", "initContainers"}) {
    for (const Json& container : list_at(pod, {"spec", list})) look_at(container, qos);
  }
  if (!qos.any) return "BestEffort";
  return qos.guaranteed ? "Guaranteed" : "Burstable";
}

void add_default_tolerations(Json& pod) {
  Json* spec = make_object(pod, "spec");
  if (spec == nullptr) return;
  const std::array<std::string_view, 2> taints = {"node.kubernetes.io/not-ready",
                                                  "node.kubernetes.io/unreachable"};
  const std::array<bool, 2> tolerated = {tolerates(pod, taints[0]), tolerates(pod, taints[1])};
  for (std::size_t i = 0; i < taints.size(); ++i) {
    if (tolerated.at(i)) continue;
    Json& tolerations = (*spec)["tolerations"];
    if (!tolerations.is_array()) tolerations = Json::array();
    // A copy of a tree is much cheaper than its making, and this is for every pod.
    static const Json toleration = {{"key", ""},
                                    {"operator", "Exists"},
                                    {"effect", "NoExecute"},
                                    {"tolerationSeconds", kTolerationSeconds}};
    tolerations.push_back(toleration);
    tolerations.back()["key"] = taints.at(i);
  }
}

void prepare_pod(Json& pod) {
  Json* spec = make_object(pod, "spec");
  if (spec == nullptr) return;
  add_default_tolerations(pod);
  if (number_at(*spec, {"terminationGracePeriodSeconds"}).value_or(0) < 0) {
    (*spec)["terminationGracePeriodSeconds"] = 1;
  }
  set_default(*spec, "priority", 0);
  set_default(*spec, "preemptionPolicy", "PreemptLowerPriority");
  pod["status"] = {{"phase", "Pending"}, {"qosClass", qos_class(pod)}};
  add_gated_condition(pod);
}

void keep_admitted(const Json& old, Json& pod) {
  add_default_tolerations(pod);
  Json* spec = make_object(pod, "spec");
  if (spec == nullptr) return;
  for (const std::string_view name : {"priority", "preemptionPolicy"}) {
    if (const Json* value = at(old, {"spec", name}); value != nullptr) {
      set_default(*spec, name, *value);
    }
  }
}

void keep_pod_status(const Json& old, Json& pod) {
  Json* status = make_object(pod, "status");
  if (status == nullptr) return;
  const Json& before = map_at(old, {"status"});
  for (const std::string_view name : {"qosClass", "observedGeneration"}) {
    if (const Json* value = member(before, name); value != nullptr) {
      set_default(*status, name, *value);
    }
  }
}

}  // namespace amdahl::local
