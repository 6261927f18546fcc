#include "operator/training/node_room.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace amdahl::training {
namespace {

const Json& spec_member(const Json& pod_template, const char* name) {
  static const Json nothing;
  const auto spec = pod_template.find("spec");
  if (spec == pod_template.end() || !spec->is_object()) return nothing;
  const auto found = spec->find(name);
  return found == spec->end() ? nothing : *found;
}

std::string text(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_ready(const kube::Node& node) {
  return std::ranges::any_of(node.status.conditions, [](const kube::NodeCondition& one) {
    return one.type == "Ready" && one.status == kube::ConditionStatus::kTrue;
  });
}

bool tolerates(const Json& toleration, const kube::Taint& taint) {
  if (!toleration.is_object()) return false;
  const std::string effect = text(toleration, "effect");
  const std::string key = text(toleration, "key");
  if (!effect.empty() && effect != taint.effect) return false;
  if (key.empty()) return text(toleration, "operator") == "Exists";
  if (key != taint.key) return false;
  return text(toleration, "operator") == "Exists" || text(toleration, "value") == taint.value;
}

bool is_kept_out(const Json& tolerations, const kube::Node& node) {
  return std::ranges::any_of(node.spec.taints, [&](const kube::Taint& taint) {
    if (taint.effect == "PreferNoSchedule") return false;
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
  if (!pod_template.is_object()) return rooms;
  const Json& tolerations = spec_member(pod_template, "tolerations");
  const Json& selector = spec_member(pod_template, "nodeSelector");
  rooms.reserve(seen.nodes.size());
  for (const NodePtr& node : seen.nodes) {
    const std::string name = node->metadata.name.str();
    const auto held = seen.gpus_held.find(name);
    rooms.push_back({.name = name,
                     .schedulable = is_ready(*node) && !node->spec.unschedulable &&
                                    !is_kept_out(tolerations, *node) &&
                                    is_selected(selector, *node),
                     .free = free_of(*node, held == seen.gpus_held.end() ? 0 : held->second)});
  }
  return rooms;
}

}  // namespace amdahl::training
