// Rules of jobs; see rules.hpp.
#include <string>
#include <string_view>
#include <utility>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/names.hpp"
#include "local/apiserver/kinds/rules.hpp"

namespace amdahl::local {

namespace {

constexpr std::int64_t kIndexedParallelismMax = 100'000;
constexpr std::string_view kNeedsIndexes = "requires indexed completion mode";

// Labels that say whose pods they are, unless the writer chose a selector.
void check_generated_selector(const Json& job, Causes& causes) {
  const Json* selector = at(job, {"spec", "selector"});
  if (selector == nullptr || flag_at(job, {"spec", "manualSelector"})) return;
  const FieldPath path("spec.template.metadata.labels");
  const Json& labels = map_at(job, {"spec", "template", "metadata", "labels"});
  const std::string uid = text_at(job, {"metadata", "uid"});
  const std::string name = text_at(job, {"metadata", "name"});
  const std::pair<std::string_view, const std::string&> wanted[] = {
      {"controller-uid", uid},
      {"job-name", name},
      {"batch.kubernetes.io/controller-uid", uid},
      {"batch.kubernetes.io/job-name", name},
  };
  Json generated = Json::object();
  for (const auto& [label, value] : wanted) {
    generated[std::string(label)] = value;
    const std::string must = "must be '" + value + "'";
    if (!labels.contains(label)) {
      causes.required(path.key(label), must);
    } else if (labels[std::string(label)] != value) {
      causes.invalid(path.key(label), labels, must);
    }
  }
  if (is_valid_selector(*selector) && !selects(*selector, generated)) {
    causes.invalid(FieldPath("spec.selector"), *selector, "`selector` not auto-generated");
  }
}

void check_indexed(const Json& spec, const FieldPath& path, Causes& causes) {
  const auto completions = number_at(spec, {"completions"});
  if (!completions) causes.required(path.child("completions"), "when completion mode is Indexed");
  const std::int64_t parallelism = number_at(spec, {"parallelism"}).value_or(0);
  if (parallelism > kIndexedParallelismMax) {
    causes.invalid(path.child("parallelism"), parallelism,
                   "must be less than or equal to 100000 when completion mode is Indexed");
  }
  const auto failed = number_at(spec, {"maxFailedIndexes"});
  if (completions && failed && *failed > *completions) {
    causes.invalid(path.child("maxFailedIndexes"), *failed,
                   "must be less than or equal to completions");
  }
}

void check_completion_mode(const Json& spec, const FieldPath& path, Causes& causes) {
  const std::string mode = text_at(spec, {"completionMode"});
  causes.one_of(path.child("completionMode"), mode, {"NonIndexed", "Indexed"});
  if (mode == "Indexed") return check_indexed(spec, path, causes);
  if (mode != "NonIndexed") return;
  for (const std::string_view name : {"backoffLimitPerIndex", "maxFailedIndexes"}) {
    if (const Json* value = member(spec, name); value != nullptr) {
      causes.invalid(path.child(name), *value, kNeedsIndexes);
    }
  }
}

void check_restart_policy(const Json& spec, const FieldPath& path, Causes& causes) {
  const std::string policy = text_at(spec, {"template", "spec", "restartPolicy"});
  const FieldPath at_policy = path.child("template").child("spec").child("restartPolicy");
  if (policy == "Always" || policy.empty()) {
    causes.required(at_policy, R"(valid values: "OnFailure", "Never")");
  } else if (policy != "OnFailure" && policy != "Never") {
    causes.not_supported(at_policy, policy, {"OnFailure", "Never"});
  } else if (member(spec, "podFailurePolicy") != nullptr && policy != "Never") {
    causes.invalid(at_policy, policy,
                   R"(only "Never" is supported when podFailurePolicy is specified)");
  }
}

void check_job_spec(const Json& job, Causes& causes) {
  const FieldPath path("spec");
  const Json& spec = map_at(job, {"spec"});
  for (const std::string_view name :
       {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
        "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    causes.not_negative(path, spec, name);
  }
  if (member(spec, "maxFailedIndexes") != nullptr &&
      member(spec, "backoffLimitPerIndex") == nullptr) {
    causes.required(path.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
  }
  check_completion_mode(spec, path, causes);
  const std::string replaced = text_at(spec, {"podReplacementPolicy"});
  if (member(spec, "podFailurePolicy") != nullptr) {
    causes.one_of(path.child("podReplacementPolicy"), replaced, {"Failed"});
  } else {
    causes.one_of(path.child("podReplacementPolicy"), replaced, {"Failed", "TerminatingOrFailed"});
  }
  check_pod_template(path.child("template"), map_at(spec, {"template"}), causes);
  check_restart_policy(spec, path, causes);
  const Json* selector = member(spec, "selector");
  if (selector == nullptr) {
    causes.required(path.child("selector"));
  } else {
    check_label_selector(path.child("selector"), *selector, causes);
  }
  if (selector == nullptr || is_valid_selector(*selector)) check_template_labels(job, causes);
}

// A suspended job that has not started may still be sent elsewhere.
void allow_other_nodes(const Json& job, Json& old) {
  const Json& pod = map_at(job, {"spec", "template"});
  Json& was = old["spec"]["template"];
  const auto take = [](const Json& from, Json& to, const char* name) {
    if (const Json* value = member(from, name); value != nullptr) {
      to[name] = *value;
    } else if (to.is_object()) {
      to.erase(name);
    }
  };
  const Json& spec = map_at(pod, {"spec"});
  for (const char* name : {"nodeSelector", "tolerations", "schedulingGates"}) {
    take(spec, was["spec"], name);
  }
  for (const char* name : {"annotations", "labels"}) {
    take(map_at(pod, {"metadata"}), was["metadata"], name);
  }
  if (member(spec, "affinity") != nullptr) {
    take(map_at(spec, {"affinity"}), was["spec"]["affinity"], "nodeAffinity");
  } else if (Json* affinity = member(was["spec"], "affinity"); affinity != nullptr) {
    affinity->erase("nodeAffinity");
    if (affinity->empty()) was["spec"].erase("affinity");
  }
}

void check_completions_update(const Json& old, const Json& job, Causes& causes) {
  if (text_at(job, {"spec", "completionMode"}) != "Indexed") {
    return check_fixed_spec(old, job, "completions", causes);
  }
  const auto completions = number_at(job, {"spec", "completions"});
  if (!completions || completions == number_at(old, {"spec", "completions"})) return;
  if (completions != number_at(job, {"spec", "parallelism"})) {
    causes.invalid(FieldPath("spec.completions"), *completions,
                   "can only be modified in tandem with spec.parallelism");
  }
}

}  // namespace

void check_job(const Json& job, Causes& causes) {
  check_generated_selector(job, causes);
  check_job_spec(job, causes);
}

void check_job_update(const Json& old, const Json& job, Causes& causes) {
  check_job(job, causes);
  check_completions_update(old, job, causes);
  check_fixed_spec(old, job, "selector", causes);
  const bool unstarted =
      flag_at(old, {"spec", "suspend"}) && at(old, {"status", "startTime"}) == nullptr;
  if (unstarted) {
    Json before = old;
    allow_other_nodes(job, before);
    check_fixed_spec(before, job, "template", causes);
  } else {
    check_fixed_spec(old, job, "template", causes);
  }
  for (const std::string_view name : {"completionMode", "podFailurePolicy", "backoffLimitPerIndex",
                                      "managedBy", "successPolicy"}) {
    check_fixed_spec(old, job, name, causes);
  }
}

}  // namespace amdahl::local
