// Rules of where a pod may run; see rules.hpp.
#include <set>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/names.hpp"
#include "local/apiserver/kinds/rules.hpp"

namespace amdahl::local {

namespace {

constexpr std::int64_t kWeightMax = 100;

void check_expression(const FieldPath& path, const Json& expression, Causes& causes) {
  const std::string op = text_at(expression, {"operator"});
  const Json& values = list_at(expression, {"values"});
  if (op == "In" || op == "NotIn") {
    if (values.empty()) {
      causes.required(path.child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty()) {
      causes.forbidden(path.child("values"),
                       "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else if (op == "Gt" || op == "Lt") {
    if (values.size() != 1) {
      causes.required(path.child("values"),
                      "must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else {
    causes.invalid(path.child("operator"), op, "not a valid selector operator");
  }
  const std::string key = text_at(expression, {"key"});
  causes.invalid(path.child("key"), key, qualified_name_errors(key));
}

void check_term(const FieldPath& path, const Json& term, Causes& causes) {
  const Json& expressions = list_at(term, {"matchExpressions"});
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    check_expression(path.child("matchExpressions").index(i), expressions[i], causes);
  }
}

void check_weight(const FieldPath& path, const Json& preferred, Causes& causes) {
  const std::int64_t weight = number_at(preferred, {"weight"}).value_or(0);
  if (weight < 1 || weight > kWeightMax) {
    causes.invalid(path.child("weight"), weight, "must be in the range 1-100");
  }
}

void check_node_affinity(const FieldPath& path, const Json& affinity, Causes& causes) {
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  if (const Json* required = member(affinity, kRequired); required != nullptr) {
    const FieldPath terms_path = path.child(kRequired).child("nodeSelectorTerms");
    const Json& terms = list_at(*required, {"nodeSelectorTerms"});
    if (terms.empty()) causes.required(terms_path, "must have at least one node selector term");
    for (std::size_t i = 0; i < terms.size(); ++i) {
      check_term(terms_path.index(i), terms[i], causes);
    }
  }
  const Json& preferred = list_at(affinity, {kPreferred});
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const FieldPath at_term = path.child(kPreferred).index(i);
    check_weight(at_term, preferred[i], causes);
    check_term(at_term.child("preference"), map_at(preferred[i], {"preference"}), causes);
  }
}

void check_pod_term(const FieldPath& path, const Json& term, Causes& causes) {
  if (const Json* selector = member(term, "labelSelector"); selector != nullptr) {
    check_label_selector(path.child("labelSelector"), *selector, causes);
  }
  const std::string key = text_at(term, {"topologyKey"});
  if (key.empty()) causes.required(path.child("topologyKey"), "can not be empty");
  causes.invalid(path.child("topologyKey"), key, qualified_name_errors(key));
}

void check_pod_affinity(const FieldPath& path, const Json& affinity, Causes& causes) {
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  const Json& required = list_at(affinity, {kRequired});
  for (std::size_t i = 0; i < required.size(); ++i) {
    check_pod_term(path.child(kRequired).index(i), required[i], causes);
  }
  const Json& preferred = list_at(affinity, {kPreferred});
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const FieldPath at_term = path.child(kPreferred).index(i);
    check_weight(at_term, preferred[i], causes);
    check_pod_term(at_term.child("podAffinityTerm"), map_at(preferred[i], {"podAffinityTerm"}),
                   causes);
  }
}

void check_spread(const FieldPath& path, const Json& constraint, Causes& causes) {
  const std::int64_t skew = number_at(constraint, {"maxSkew"}).value_or(0);
  if (skew <= 0) causes.invalid(path.child("maxSkew"), skew, "must be greater than zero");
  if (text_at(constraint, {"topologyKey"}).empty()) {
    causes.required(path.child("topologyKey"), "can not be empty");
  }
  causes.one_of(path.child("whenUnsatisfiable"), text_at(constraint, {"whenUnsatisfiable"}),
                {"DoNotSchedule", "ScheduleAnyway"});
}

void check_gates(const FieldPath& spec_path, const Json& spec, Causes& causes) {
  const Json& ready = list_at(spec, {"readinessGates"});
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const std::string type = text_at(ready[i], {"conditionType"});
    causes.invalid(spec_path.child("readinessGates").index(i).child("conditionType"), type,
                   qualified_name_errors(type));
  }
  std::set<std::string> seen;
  const Json& gates = list_at(spec, {"schedulingGates"});
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const std::string name = text_at(gates[i], {"name"});
    const FieldPath path = spec_path.child("schedulingGates").index(i);
    causes.invalid(path, name, qualified_name_errors(name));
    if (!seen.insert(name).second) causes.duplicate(path, name);
  }
}

void check_toleration(const FieldPath& path, const Json& toleration, Causes& causes) {
  const std::string key = text_at(toleration, {"key"});
  const std::string op = text_at(toleration, {"operator"});
  const std::string value = text_at(toleration, {"value"});
  const std::string effect = text_at(toleration, {"effect"});
  if (!key.empty()) {
    causes.invalid(path.child("key"), key, qualified_name_errors(key));
  } else if (op != "Exists") {
    causes.invalid(path.child("operator"), op,
                   "operator must be Exists when `key` is empty, which means \"match all values "
                   "and all keys\"");
  }
  if (member(toleration, "tolerationSeconds") != nullptr && effect != "NoExecute") {
    causes.invalid(path.child("effect"), effect,
                   "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  if (op == "Exists") {
    if (!value.empty()) {
      causes.invalid(path.child("operator"), value,
                     "value must be empty when `operator` is 'Exists'");
    }
  } else if (op.empty() || op == "Equal") {
    causes.invalid(path.child("operator"), value, label_value_errors(value));
  } else {
    causes.not_supported(path.child("operator"), op, {"Equal", "Exists"});
  }
  if (!effect.empty()) {
    causes.one_of(path.child("effect"), effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
  }
}

}  // namespace

void check_tolerations(const FieldPath& path, const Json& tolerations, Causes& causes) {
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    check_toleration(path.index(i), tolerations[i], causes);
  }
}

void check_scheduling(const FieldPath& spec_path, const Json& spec, Causes& causes) {
  check_labels(spec_path.child("nodeSelector"), map_at(spec, {"nodeSelector"}), causes);
  check_tolerations(spec_path.child("tolerations"), list_at(spec, {"tolerations"}), causes);
  const FieldPath affinity = spec_path.child("affinity");
  check_node_affinity(affinity.child("nodeAffinity"), map_at(spec, {"affinity", "nodeAffinity"}),
                      causes);
  for (const std::string_view name : {"podAffinity", "podAntiAffinity"}) {
    check_pod_affinity(affinity.child(name), map_at(spec, {"affinity", name}), causes);
  }
  check_gates(spec_path, spec, causes);
  const Json& spread = list_at(spec, {"topologySpreadConstraints"});
  for (std::size_t i = 0; i < spread.size(); ++i) {
    check_spread(spec_path.child("topologySpreadConstraints").index(i), spread[i], causes);
  }
}

}  // namespace amdahl::local
