// Rules of deployments and replica sets; see rules.hpp.
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

bool is_empty_selector(const Json& selector) {
  return map_at(selector, {"matchLabels"}).empty() &&
         list_at(selector, {"matchExpressions"}).empty();
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

void check_replicated_template(const Json& object, Causes& causes) {
  const FieldPath path("spec.template");
  const Json& pod = map_at(object, {"spec", "template"});
  check_template_labels(object, causes);
  check_pod_template(path, pod, causes);
  const std::string restart = text_at(pod, {"spec", "restartPolicy"});
  if (restart == "Never" || restart == "OnFailure") {
    causes.not_supported(path.child("spec").child("restartPolicy"), restart, {"Always"});
  }
  if (at(pod, {"spec", "activeDeadlineSeconds"}) != nullptr) {
    causes.forbidden(path.child("spec").child("activeDeadlineSeconds"),
                     "activeDeadlineSeconds in ReplicaSet is not Supported");
  }
}

void check_replicated(const Json& object, std::string_view what, Causes& causes) {
  const FieldPath path("spec");
  const Json& spec = map_at(object, {"spec"});
  causes.not_negative(path, spec, "replicas");
  check_selector(object, what, causes);
  const Json* selector = member(spec, "selector");
  if (selector != nullptr && !is_valid_selector(*selector)) {
    causes.invalid(path.child("selector"), *selector, "invalid label selector");
  } else {
    check_replicated_template(object, causes);
  }
  causes.not_negative(path, spec, "minReadySeconds");
}

}  // namespace

bool selects(const Json& selector, const Json& labels) {
  for (const auto& [key, value] : map_at(selector, {"matchLabels"}).items()) {
    if (!labels.contains(key) || labels[key] != value) return false;
  }
  return std::ranges::all_of(list_at(selector, {"matchExpressions"}), [&](const Json& expression) {
    return expression_matches(expression, labels);
  });
}

bool is_valid_selector(const Json& selector) {
  Causes causes;
  check_label_selector(FieldPath(), selector, causes);
  return causes.empty();
}

void check_template_labels(const Json& object, Causes& causes) {
  const Json* selector = at(object, {"spec", "selector"});
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

void check_fixed_spec(const Json& old, const Json& object, std::string_view name, Causes& causes) {
  const Json* before = at(old, {"spec", name});
  const Json* now = at(object, {"spec", name});
  const bool same = (before == nullptr || now == nullptr) ? before == now : *before == *now;
  if (!same) {
    causes.invalid(FieldPath("spec").child(name), now == nullptr ? Json() : *now,
                   "field is immutable");
  }
}

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
  const FieldPath path("spec");
  const Json& spec = map_at(deployment, {"spec"});
  causes.not_negative(path, spec, "revisionHistoryLimit");
  causes.not_negative(path, spec, "progressDeadlineSeconds");
  const auto deadline = number_at(spec, {"progressDeadlineSeconds"});
  if (deadline && *deadline <= number_at(spec, {"minReadySeconds"}).value_or(0)) {
    causes.invalid(path.child("progressDeadlineSeconds"), *deadline,
                   "must be greater than minReadySeconds");
  }
}

void check_replica_set(const Json& set, Causes& causes) {
  check_replicated(set, "deployment", causes);
}

void check_selector_update(const Json& old, const Json& object, Causes& causes) {
  check_fixed_spec(old, object, "selector", causes);
}

}  // namespace amdahl::local
