#include "operator/training/node_room.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/json_member.hpp"

namespace amdahl::training {
namespace {

bool is_ready(const kube::Node& node) {
  return std::ranges::any_of(node.status.conditions, [](const kube::NodeCondition& one) {
    return one.type == "Ready" && one.status == kube::ConditionStatus::kTrue;
  });
}

bool tolerates(const Json& toleration, const kube::Taint& taint) {
  const std::string_view effect = text_of(toleration, "effect");
  const std::string_view key = text_of(toleration, "key");
  if (!effect.empty() && effect != taint.effect) return false;
  if (key.empty()) return text_of(toleration, "operator") == "Exists";
  if (key != taint.key) return false;
  return text_of(toleration, "operator") == "Exists" || text_of(toleration, "value") == taint.value;
}

// Taints that tell of a node's state, such as not-ready, come and go.
bool is_passing(const kube::Taint& taint) {
  return taint.key.starts_with("node.kubernetes.io/");
}

bool is_kept_out(const Json& tolerations, const kube::Node& node, bool for_good) {
  return std::ranges::any_of(node.spec.taints, [&](const kube::Taint& taint) {
    if (taint.effect == "PreferNoSchedule" || (for_good && is_passing(taint))) return false;
    return !tolerations.is_array() || std::ranges::none_of(tolerations, [&](const Json& one) {
      return tolerates(one, taint);
    });
  });
}

bool is_selected(const Json& selector, const kube::Node& node) {
  if (!selector.is_object()) return true;
  return std::ranges::all_of(selector.items(), [&](const auto& wanted) {
    const auto label = node.metadata.labels.find(wanted.key());
    return label && wanted.value().is_string() &&
           *label == wanted.value().template get<std::string>();
  });
}

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A word as `In`, of one key and what the node has there.
bool meets(const Json& requirement, const std::optional<std::string>& has) {
  const std::string_view word = text_of(requirement, "operator");
  const Json& values = member_of(requirement, "values");
  if (word == "Exists") return has.has_value();
  if (word == "DoesNotExist") return !has;
  if (!values.is_array() || values.empty()) return true;
  const bool listed = has && std::ranges::find(values, Json(*has)) != values.end();
  if (word == "In") return listed;
  if (word == "NotIn") return !listed;
  if ((word != "Gt" && word != "Lt") || !values[0].is_string()) return true;
  const auto limit = integer(values[0].get_ref<const std::string&>());
  if (!limit) return true;
  const auto found = has ? integer(*has) : std::nullopt;
  return found && (word == "Gt" ? *found > *limit : *found < *limit);
}

// All of a term's requirements; a term that has none matches no node.
bool meets_term(const Json& term, const kube::Node& node) {
  if (!term.is_object()) return true;
  bool any = false;
  const auto all_met = [&](const char* list, const auto& value_of) {
    const Json& requirements = member_of(term, list);
    if (!requirements.is_array()) return true;
    any = any || !requirements.empty();
    return std::ranges::all_of(requirements, [&](const Json& one) {
      const std::string key(text_of(one, "key"));
      return key.empty() || value_of(one, key);
    });
  };
  const bool labels = all_met("matchExpressions", [&](const Json& one, const std::string& key) {
    const auto label = node.metadata.labels.find(key);
    return meets(one, label ? std::optional(std::string(*label)) : std::nullopt);
  });
  const bool fields = all_met("matchFields", [&](const Json& one, const std::string& key) {
    return key != "metadata.name" || meets(one, node.metadata.name.str());
  });
  return any && labels && fields;
}

bool meets_affinity(const Json& pod_spec, const kube::Node& node) {
  const Json& affinity = member_of(member_of(pod_spec, "affinity"), "nodeAffinity");
  const Json& terms = member_of(
      member_of(affinity, "requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms");
  if (!terms.is_array() || terms.empty()) return true;
  return std::ranges::any_of(terms, [&](const Json& term) { return meets_term(term, node); });
}

Quantities free_of(const kube::Node& node, std::int64_t gpus_held) {
  Quantities free = node.status.allocatable;
  for (auto& [name, amount] : free)
    if (name.ends_with("/gpu"))
      amount = kube::Quantity::from_integer(std::max<std::int64_t>(0, amount.value() - gpus_held));
  return free;
}

}  // namespace

std::vector<NodeRoom> rooms_for(const Json& pod_template, const NodesSeen& seen) {
  std::vector<NodeRoom> rooms;
  const Json& pod_spec = member_of(pod_template, "spec");
  const Json& tolerations = member_of(pod_spec, "tolerations");
  const Json& selector = member_of(pod_spec, "nodeSelector");
  rooms.reserve(seen.nodes.size());
  for (const NodePtr& node : seen.nodes) {
    const std::string name = node->metadata.name.str();
    const auto held = seen.gpus_held.find(name);
    const bool selected = is_selected(selector, *node) && meets_affinity(pod_spec, *node);
    rooms.push_back({.name = name,
                     .schedulable = selected && is_ready(*node) && !node->spec.unschedulable &&
                                    !is_kept_out(tolerations, *node, false),
                     .free = free_of(*node, held == seen.gpus_held.end() ? 0 : held->second),
                     .suitable = selected && !is_kept_out(tolerations, *node, true),
                     .whole = node->status.allocatable});
  }
  return rooms;
}

}  // namespace amdahl::training
