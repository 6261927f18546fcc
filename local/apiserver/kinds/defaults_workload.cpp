// Defaults of deployments, jobs, role bindings and definitions; see builtin_defaults.hpp.
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "local/apiserver/kinds/builtin_defaults.hpp"
#include "local/apiserver/kinds/json_access.hpp"

namespace amdahl::local {

namespace {

constexpr int kRevisionsKept = 10;
constexpr int kProgressSeconds = 600;
constexpr int kBackoffLimit = 6;
constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

void default_failure_policy(Json& spec) {
  Json* policy = member(spec, "podFailurePolicy");
  Json* rules = policy == nullptr ? nullptr : member(*policy, "rules");
  if (rules == nullptr || !rules->is_array()) return;
  for (Json& rule : *rules) {
    Json* conditions = member(rule, "onPodConditions");
    if (conditions == nullptr || !conditions->is_array()) continue;
    for (Json& condition : *conditions) {
      if (text_at(condition, {"status"}).empty()) condition["status"] = "True";
    }
  }
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

void default_deployment(Json& deployment) {
  Json* spec = make_object(deployment, "spec");
  if (spec == nullptr) return;
  set_default(*spec, "replicas", 1);
  set_default(*spec, "revisionHistoryLimit", kRevisionsKept);
  set_default(*spec, "progressDeadlineSeconds", kProgressSeconds);
  if (Json* strategy = make_object(*spec, "strategy"); strategy != nullptr) {
    set_default(*strategy, "type", "RollingUpdate");
    if (text_at(*strategy, {"type"}) == "RollingUpdate") {
      Json* rolling = make_object(*strategy, "rollingUpdate");
      if (rolling != nullptr) {
        set_default(*rolling, "maxUnavailable", "25%");
        set_default(*rolling, "maxSurge", "25%");
      }
    }
  }
  default_pod_template(*spec);
}

void default_replica_set(Json& set) {
  Json* spec = make_object(set, "spec");
  if (spec == nullptr) return;
  set_default(*spec, "replicas", 1);
  default_pod_template(*spec);
}

void default_job(Json& job) {
  Json* spec = make_object(job, "spec");
  if (spec == nullptr) return;
  if (member(*spec, "completions") == nullptr && member(*spec, "parallelism") == nullptr) {
    (*spec)["completions"] = 1;
  }
  set_default(*spec, "parallelism", 1);
  const bool per_index = member(*spec, "backoffLimitPerIndex") != nullptr;
  set_default(*spec, "backoffLimit",
              per_index ? std::numeric_limits<std::int32_t>::max() : kBackoffLimit);
  set_default(*spec, "completionMode", "NonIndexed");
  set_default(*spec, "suspend", false);
  set_default(*spec, "manualSelector", false);
  const bool has_policy = member(*spec, "podFailurePolicy") != nullptr;
  set_default(*spec, "podReplacementPolicy", has_policy ? "Failed" : "TerminatingOrFailed");
  default_failure_policy(*spec);
  default_pod_template(*spec);
  const Json& labels = map_at(*spec, {"template", "metadata", "labels"});
  Json* metadata = make_object(job, "metadata");
  if (metadata != nullptr && !labels.empty() && map_at(*metadata, {"labels"}).empty()) {
    (*metadata)["labels"] = Json(labels);
  }
}

void default_role_binding(Json& binding) {
  if (Json* ref = make_object(binding, "roleRef"); ref != nullptr) {
    if (text_at(*ref, {"apiGroup"}).empty()) (*ref)["apiGroup"] = kRbac;
  }
  Json* subjects = member(binding, "subjects");
  if (subjects == nullptr || !subjects->is_array()) return;
  for (Json& subject : *subjects) {
    const std::string kind = text_at(subject, {"kind"});
    if (kind == "User" || kind == "Group") set_default(subject, "apiGroup", kRbac);
  }
}

void default_crd(Json& crd) {
  Json* spec = make_object(crd, "spec");
  Json* names = spec == nullptr ? nullptr : make_object(*spec, "names");
  if (names == nullptr) return;
  const std::string kind = text_at(*names, {"kind"});
  if (!kind.empty()) {
    set_default(*names, "singular", lower(kind));
    set_default(*names, "listKind", kind + "List");
  }
  Json* conversion = make_object(*spec, "conversion");
  if (conversion != nullptr && text_at(*conversion, {"strategy"}).empty()) {
    (*conversion)["strategy"] = "None";
  }
}

}  // namespace amdahl::local
