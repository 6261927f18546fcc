// The affinity and the tolerations of a pod, as far as they are read. Plain values with field
// tables.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.hpp"

namespace amdahl::local::scheduling::cached {

struct PodToleration {
  std::string key = {};
  std::string op = {};
  std::string value = {};
  std::string effect = {};
};
template <class V>
constexpr void fields(V& v, PodToleration& toleration) {
  v.optional("key", toleration.key);
  v.optional("operator", toleration.op);
  v.optional("value", toleration.value);
  v.optional("effect", toleration.effect);
}

// "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt".
struct Expression {
  std::string key = {};
  std::string op = {};
  std::vector<std::string> values = {};
};
template <class V>
constexpr void fields(V& v, Expression& expression) {
  v.optional("key", expression.key);
  v.optional("operator", expression.op);
  v.optional("values", expression.values);
}

struct NodeSelectorTerm {
  std::vector<Expression> labels = {};
  std::vector<Expression> fields_of_node = {};
};
template <class V>
constexpr void fields(V& v, NodeSelectorTerm& term) {
  v.optional("matchExpressions", term.labels);
  v.optional("matchFields", term.fields_of_node);
}

struct NodeSelector {
  std::vector<NodeSelectorTerm> terms = {};
};
template <class V>
constexpr void fields(V& v, NodeSelector& selector) {
  v.optional("nodeSelectorTerms", selector.terms);
}

struct PreferredTerm {
  std::int32_t weight = 0;
  NodeSelectorTerm term = {};
};
template <class V>
constexpr void fields(V& v, PreferredTerm& preferred) {
  v.optional("weight", preferred.weight);
  v.optional("preference", preferred.term);
}

struct NodeAffinity {
  std::optional<NodeSelector> required = {};
  std::vector<PreferredTerm> preferred = {};
};
template <class V>
constexpr void fields(V& v, NodeAffinity& affinity) {
  v.optional("requiredDuringSchedulingIgnoredDuringExecution", affinity.required);
  v.optional("preferredDuringSchedulingIgnoredDuringExecution", affinity.preferred);
}

struct LabelSelector {
  std::map<std::string, std::string> labels = {};
  std::vector<Expression> expressions = {};
};
template <class V>
constexpr void fields(V& v, LabelSelector& selector) {
  v.optional("matchLabels", selector.labels);
  v.optional("matchExpressions", selector.expressions);
}

struct PodAffinityTerm {
  std::optional<LabelSelector> selector = {};
  std::vector<std::string> namespaces = {};
  std::optional<LabelSelector> namespace_selector = {};
  std::string topology_key = {};
};
template <class V>
constexpr void fields(V& v, PodAffinityTerm& term) {
  v.optional("labelSelector", term.selector);
  v.optional("namespaces", term.namespaces);
  v.optional("namespaceSelector", term.namespace_selector);
  v.optional("topologyKey", term.topology_key);
}

struct PodAffinity {
  std::vector<PodAffinityTerm> required = {};
};
template <class V>
constexpr void fields(V& v, PodAffinity& affinity) {
  v.optional("requiredDuringSchedulingIgnoredDuringExecution", affinity.required);
}

struct Affinity {
  std::optional<NodeAffinity> node = {};
  std::optional<PodAffinity> together = {};
  std::optional<PodAffinity> apart = {};
};
template <class V>
constexpr void fields(V& v, Affinity& affinity) {
  v.optional("nodeAffinity", affinity.node);
  v.optional("podAffinity", affinity.together);
  v.optional("podAntiAffinity", affinity.apart);
}

}  // namespace amdahl::local::scheduling::cached
