// Rules of deployments, replica sets and jobs; see rules.hpp.
#include <algorithm>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/names.hpp"
#include "local/apiserver/kinds/rules.hpp"

namespace amdahl::local {

namespace {

bool expression_matches(const Json& expression, const Json& labels) {
  const std::string op = text_at(expression, {"operator"});
  const std::string key = text_at(expression, {"key"});
  const Json& values = list_at(expression, {"values"});
  const bool has = labels.contains(key);
  const bool listed = has && std::ranges::find(values, labels[key]) != values.end();
  if (op == "In") return listed;
  if (op == "NotIn") return !listed;
  if (op == "Exists") return has;
  return op == "DoesNotExist" && !has;
}

bool selects(const Json& selector, const Json& labels) {
  for (const auto& [key, value] : map_at(selector, {"matchLabels"}).items()) {
    if (!labels.contains(key) || labels[key] != value) return false;
  }
  return std::ranges::all_of(list_at(selector, {"matchExpressions"}), [&](const Json& expression) {
    return expression_matches(expression, labels);
  });
}

bool is_empty_selector(const Json& selector) {
  return map_at(selector, {"matchLabels"}).empty() &&
         list_at(selector, {"matchExpressions"}).empty();
}

bool is_valid_selector(const Json& selector) {
  Causes causes;
  check_label_selector(FieldPath(), selector, causes);
  return causes.empty();
}

void check_template_labels(const Json& object, Causes& causes) {
  const Json* selector = at(object, {"spec", "selector"});
  if (selector != nullptr && !is_valid_selector(*selector)) {
    return causes.invalid(FieldPath("spec.selector"), *selector, "invalid label selector");
  }
  const Json* labels = at(object, {"spec", "template", "metadata", "labels"});
  const bool empty = selector == nullptr || is_empty_selector(*selector);
  // An absent selector selects nothing; an empty one is refused elsewhere.
  const bool selected = selector != nullptr &&
                        (empty || selects(*selector, labels == nullptr ? Json::object() : *labels));
  if (!selected) {
    causes.invalid(FieldPath("spec.template.metadata.labels"), labels == nullptr ? Json() : *labels,
                   "`selector` does not match template `labels`");
  }
}

void check_selector(const Json& object, std::string_view what, Causes& causes) {
  const FieldPath path("spec.selector");
  const Json* selector = at(object, {"spec", "selector"});
  if (selector == nullptr) return causes.required(path);
  check_label_selector(path, *selector, causes);
  if (is_empty_selector(*selector)) {
    causes.invalid(path, *selector, "empty selector is invalid for " + std::string(what));
  }
}

void check_replicated(const Json& object, std::string_view what, Causes& causes) {
  const FieldPath path("spec");
  const Json& spec = map_at(object, {"spec"});
  causes.not_negative(path, spec, "replicas");
  check_selector(object, what, causes);
  check_template_labels(object, causes);
  check_pod_template(path.child("template"), map_at(spec, {"template"}), causes);
  const std::string restart = text_at(spec, {"template", "spec", "restartPolicy"});
  if (restart != "Always" && (restart == "Never" || restart == "OnFailure")) {
    causes.not_supported(path.child("template").child("spec").child("restartPolicy"), restart,
                         {"Always"});
  }
  causes.not_negative(path, spec, "minReadySeconds");
}

void check_immutable(const Json& old, const Json& object, std::string_view name, Causes& causes) {
  const Json* before = at(old, {"spec", name});
  const Json* now = at(object, {"spec", name});
  const bool same = (before == nullptr || now == nullptr) ? before == now : *before == *now;
  if (!same) {
    causes.invalid(FieldPath("spec").child(name), now == nullptr ? Json() : *now,
                   "field is immutable");
  }
}

}  // namespace

void check_label_selector(const FieldPath& path, const Json& selector, Causes& causes) {
  check_labels(path.child("matchLabels"), map_at(selector, {"matchLabels"}), causes);
  const Json& expressions = list_at(selector, {"matchExpressions"});
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const FieldPath at_expression = path.child("matchExpressions").index(i);
    const std::string op = text_at(expressions[i], {"operator"});
    const bool has_values = !list_at(expressions[i], {"values"}).empty();
    if (op == "In" || op == "NotIn") {
      if (!has_values) {
        causes.required(at_expression.child("values"),
                        "must be specified when `operator` is 'In' or 'NotIn'");
      }
    } else if (op == "Exists" || op == "DoesNotExist") {
      if (has_values) {
        causes.forbidden(at_expression.child("values"),
                         "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
    } else {
      causes.invalid(at_expression.child("operator"), op, "not a valid selector operator");
    }
    const std::string key = text_at(expressions[i], {"key"});
    causes.invalid(at_expression.child("key"), key, qualified_name_errors(key));
  }
}

void check_deployment(const Json& deployment, Causes& causes) {
  check_replicated(deployment, "deployment", causes);
  const std::string type = text_at(deployment, {"spec", "strategy", "type"});
  if (type != "Recreate" && type != "RollingUpdate") {
    causes.not_supported_text(FieldPath("spec.strategy"),
                              R"({"Type":)" + Json(type).dump() + R"(,"RollingUpdate":null})",
                              {"Recreate", "RollingUpdate"});
  }
  if (type == "Recreate" && at(deployment, {"spec", "strategy", "rollingUpdate"}) != nullptr) {
    causes.forbidden(FieldPath("spec.strategy.rollingUpdate"),
                     "may not be specified when strategy `type` is 'Recreate'");
  }
  causes.not_negative(FieldPath("spec"), map_at(deployment, {"spec"}), "revisionHistoryLimit");
}

void check_replica_set(const Json& set, Causes& causes) {
  check_replicated(set, "deployment", causes);
}

void check_selector_update(const Json& old, const Json& object, Causes& causes) {
  check_immutable(old, object, "selector", causes);
}

void check_job(const Json& job, Causes& causes) {
  const FieldPath path("spec");
  const Json& spec = map_at(job, {"spec"});
  for (const std::string_view name : {"parallelism", "completions", "activeDeadlineSeconds",
                                      "backoffLimit", "ttlSecondsAfterFinished"}) {
    causes.not_negative(path, spec, name);
  }
  const std::string mode = text_at(spec, {"completionMode"});
  causes.one_of(path.child("completionMode"), mode, {"NonIndexed", "Indexed"});
  if (mode == "Indexed" && member(spec, "completions") == nullptr) {
    causes.required(path.child("completions"), "when completion mode is Indexed");
  }
  check_template_labels(job, causes);
  check_pod_template(path.child("template"), map_at(spec, {"template"}), causes);
  const FieldPath restart = path.child("template").child("spec").child("restartPolicy");
  if (text_at(spec, {"template", "spec", "restartPolicy"}) == "Always") {
    causes.required(restart, "valid values: \"OnFailure\", \"Never\"");
  }
}

void check_job_update(const Json& old, const Json& job, Causes& causes) {
  check_job(job, causes);
  const bool indexed = text_at(job, {"spec", "completionMode"}) == "Indexed";
  if (!indexed) check_immutable(old, job, "completions", causes);
  for (const std::string_view name :
       {"selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex"}) {
    check_immutable(old, job, name, causes);
  }
  // A suspended job that has not started may still be scheduled differently.
  const bool may_change =
      flag_at(old, {"spec", "suspend"}) && at(old, {"status", "startTime"}) == nullptr;
  if (!may_change) check_immutable(old, job, "template", causes);
}

}  // namespace amdahl::local
