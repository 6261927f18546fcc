#include "local/scheduler/observe.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace amdahl::local::scheduling {
namespace {

using kube::Requirement;
using kube::SelectorOperator;

constexpr std::string_view kGroupName = "scheduling.k8s.io/group-name";
constexpr std::string_view kVolcanoGroupName = "scheduling.volcano.sh/group-name";
constexpr std::string_view kQueueName = "scheduling.volcano.sh/queue-name";
constexpr std::string_view kTaskSpec = "volcano.sh/task-spec";

constexpr auto kOperators = std::to_array<std::pair<std::string_view, SelectorOperator>>({
    {"In", SelectorOperator::kIn},
    {"NotIn", SelectorOperator::kNotIn},
    {"Exists", SelectorOperator::kExists},
    {"DoesNotExist", SelectorOperator::kNotExists},
    {"Gt", SelectorOperator::kGreater},
    {"Lt", SelectorOperator::kLess},
});

// False: it says nothing that could be checked.
bool add_requirement(const cached::Expression& expression, std::vector<Requirement>& into) {
  const auto found = std::ranges::find(kOperators, std::string_view(expression.op),
                                       &decltype(kOperators)::value_type::first);
  if (found == kOperators.end()) return false;
  const SelectorOperator op = found->second;
  const bool ordered = op == SelectorOperator::kGreater || op == SelectorOperator::kLess;
  if (ordered && expression.values.size() != 1) return false;
  into.push_back({.key = expression.key, .op = op, .values = expression.values});
  return true;
}

bool add_requirements(const std::vector<cached::Expression>& expressions,
                      std::vector<Requirement>& into) {
  return std::ranges::all_of(expressions,
                             [&](const auto& one) { return add_requirement(one, into); });
}

NodeTerm node_term(const cached::NodeSelectorTerm& from) {
  NodeTerm term;
  const bool labels = add_requirements(from.labels, term.labels);
  const bool fields = add_requirements(from.fields_of_node, term.fields);
  term.never = !labels || !fields;
  return term;
}

PodTerm pod_term(const cached::PodAffinityTerm& from, const std::string& ns) {
  PodTerm term{.namespaces = from.namespaces, .topology_key = from.topology_key};
  term.never = !from.selector.has_value();
  if (from.selector) {
    for (const auto& [key, value] : from.selector->labels)
      term.labels.push_back({.key = key, .op = SelectorOperator::kIn, .values = {value}});
    term.never = !add_requirements(from.selector->expressions, term.labels);
  }
  if (from.namespace_selector) {
    const bool all =
        from.namespace_selector->labels.empty() && from.namespace_selector->expressions.empty();
    term.all_namespaces = all;
    term.unsupported = !all;
  } else if (from.namespaces.empty()) {
    term.namespaces.push_back(ns);
  }
  return term;
}

void set_affinity(const cached::Affinity& from, const std::string& ns, PodView& pod) {
  if (from.node) {
    if (from.node->required) {
      auto& terms = pod.node_terms.emplace();
      for (const auto& term : from.node->required->terms) terms.push_back(node_term(term));
    }
    for (const auto& one : from.node->preferred)
      pod.preferred_nodes.push_back({.weight = one.weight, .term = node_term(one.term)});
  }
  if (from.together)
    for (const auto& term : from.together->required) pod.together.push_back(pod_term(term, ns));
  if (from.apart)
    for (const auto& term : from.apart->required) pod.apart.push_back(pod_term(term, ns));
}

void set_group(const kube::ObjectMeta& metadata, PodView& pod) {
  const auto annotation = [&](std::string_view key) {
    return std::string(metadata.annotations.find(key).value_or(""));
  };
  pod.group = annotation(kGroupName);
  if (pod.group.empty()) pod.group = annotation(kVolcanoGroupName);
  pod.queue = annotation(kQueueName);
  pod.task = annotation(kTaskSpec);
  if (pod.task.empty()) pod.task = std::string(metadata.labels.find(kTaskSpec).value_or(""));
}

std::int32_t priority_of(const cached::PodSpec& spec,
                         const std::map<std::string, std::int32_t>& priorities) {
  if (spec.priority) return *spec.priority;
  const auto named = priorities.find(spec.priority_class);
  return named == priorities.end() ? 0 : named->second;
}

std::optional<ScheduledCondition> scheduled_condition(const cached::PodStatus& status) {
  const auto found = std::ranges::find(status.conditions, kube::PodConditionType::kScheduled,
                                       &kube::PodCondition::type);
  if (found == status.conditions.end()) return std::nullopt;
  return ScheduledCondition{
      .status = found->status, .reason = found->reason.str(), .message = found->message.str()};
}

}  // namespace

NodeView node_view(const kube::Node& node) {
  const auto ready = std::ranges::find(node.status.conditions, "Ready", &kube::NodeCondition::type);
  return {.name = node.metadata.name.str(),
          .labels = node.metadata.labels,
          .taints = node.spec.taints,
          .unschedulable = node.spec.unschedulable,
          // A node that says nothing of its health was made by hand, and is taken as it is.
          .ready = ready == node.status.conditions.end() ||
                   ready->status == kube::ConditionStatus::kTrue,
          .allocatable = to_resources(node.status.allocatable.empty() ? node.status.capacity
                                                                      : node.status.allocatable)};
}

PodView pod_view(const cached::Pod& pod, const std::map<std::string, std::int32_t>& priorities) {
  PodView view{.key = pod.metadata.key(),
               .uid = pod.metadata.uid,
               .node = pod.spec.node,
               .requests = pod_requests(pod.spec),
               .labels = pod.metadata.labels,
               .node_selector = pod.spec.node_selector,
               .priority = priority_of(pod.spec, priorities),
               .created = pod.metadata.created.value_or(WallTime{}),
               .phase = pod.status.phase,
               .deleting = pod.metadata.deleted.has_value(),
               // A pod has containers; one without has a spec that could not be read.
               .gated = !pod.spec.gates.empty() || pod.spec.containers.empty(),
               .scheduled = scheduled_condition(pod.status)};
  if (!pod.spec.scheduler.empty()) view.scheduler = pod.spec.scheduler;
  for (const auto& one : pod.spec.tolerations)
    view.tolerations.push_back(
        {.key = one.key, .op = one.op, .value = one.value, .effect = one.effect});
  if (pod.spec.affinity) set_affinity(*pod.spec.affinity, pod.metadata.ns, view);
  set_group(pod.metadata, view);
  return view;
}

GroupView group_view(const cached::PodGroup& group) {
  GroupView view{.key = group.metadata.key(),
                 .uid = group.metadata.uid,
                 .members_min = group.spec.members_min,
                 .task_members_min = group.spec.task_members_min,
                 .resources_min = to_resources(group.spec.resources_min),
                 .priority_class = group.spec.priority_class,
                 .created = group.metadata.created.value_or(WallTime{}),
                 .deleting = group.metadata.deleted.has_value(),
                 .status = group.status};
  if (!group.spec.queue.empty()) view.queue = group.spec.queue;
  return view;
}

QueueView queue_view(const cached::Queue& queue) {
  return {.name = queue.metadata.name,
          .uid = queue.metadata.uid,
          .capability = to_resources(queue.spec.capability),
          .weight = queue.spec.weight,
          .status = queue.status};
}

}  // namespace amdahl::local::scheduling
