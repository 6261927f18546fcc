#include "local/scheduler/board.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "local/scheduler/gang.hpp"
#include "local/scheduler/schedule.hpp"

namespace amdahl::local::scheduling {
namespace {

constexpr std::string_view kPodCount = "pods";

// The first of a list, in the order of their names.
template <class View, class Key>
std::vector<const View*> in_order(const std::vector<View>& views, Key key, std::size_t most) {
  std::vector<const View*> sorted;
  sorted.reserve(views.size());
  for (const View& view : views) sorted.push_back(&view);
  // Two of one name: as they are listed. libstdc++ 12's stable_sort warns about itself.
  std::ranges::sort(sorted, [&](const View* a, const View* b) {
    const auto order = std::invoke(key, *a) <=> std::invoke(key, *b);
    return order < 0 || (order == 0 && a < b);
  });
  if (sorted.size() > most) sorted.resize(most);
  return sorted;
}

bool admitted_before(GroupPhase phase) {
  return phase != GroupPhase::kNone && phase != GroupPhase::kPending;
}

}  // namespace

bool is_served(const PodView& pod) {
  return pod.scheduler == kDefaultScheduler || pod.scheduler == kVolcanoScheduler;
}

bool is_finished(const PodView& pod) {
  return pod.phase == kube::PodPhase::kSucceeded || pod.phase == kube::PodPhase::kFailed;
}

bool is_bound(const PodRow& pod) {
  return pod.planned || !pod.view->node.empty();
}

bool holds(const PodRow& pod) {
  return is_bound(pod) && !is_finished(*pod.view);
}

bool waits(const PodRow& pod) {
  const PodView& view = *pod.view;
  return !is_bound(pod) && is_served(view) && !is_finished(view) && !view.deleting && !view.gated;
}

bool QueueRow::open() const {
  const QueueState state = view == nullptr ? QueueState::kNone : view->status.state;
  return state == QueueState::kNone || state == QueueState::kOpen;
}

Board::Board(const ClusterView& seen) {
  number_resources(seen);
  total.assign(resources(), 0);
  used.assign(resources(), 0);
  reserved.assign(resources(), 0);
  add_nodes(seen);
  add_queues(seen);
  add_groups(seen);
  add_pods(seen);
  place_bound_pods();
  admit_known_groups();
}

void Board::number_resources(const ClusterView& seen) {
  std::set<std::string_view> names{kPodCount};
  const auto collect = [&names](const Resources& some) {
    for (const auto& [name, amount] : some) names.insert(name);
  };
  for (const NodeView& node : seen.nodes) collect(node.allocatable);
  for (const PodView& pod : seen.pods) collect(pod.requests);
  for (const GroupView& group : seen.groups) collect(group.resources_min);
  for (const QueueView& queue : seen.queues) collect(queue.capability);
  names_.assign(names.begin(), names.end());
}

std::vector<Want> Board::wants_of(const Resources& wanted) const {
  std::vector<Want> wants;
  for (const auto& [name, amount] : wanted) {
    const auto place = std::ranges::lower_bound(names_, name);
    if (amount > 0)
      wants.push_back({.resource = static_cast<Index>(place - names_.begin()),
                       .amount = std::min(amount, kAmountMax)});
  }
  return wants;
}

void Board::add_nodes(const ClusterView& seen) {
  for (const NodeView* view : in_order(seen.nodes, &NodeView::name, kNodesMax)) {
    NodeRow row{.view = view};
    row.total.assign(resources(), 0);
    for (const Want& has : wants_of(view->allocatable)) row.total[has.resource] = has.amount;
    if (!view->allocatable.contains(std::string(kPodCount)))
      row.total[wants_of({{std::string(kPodCount), 1}}).front().resource] = kAmountMax;
    row.free = row.total;
    for (std::size_t i = 0; view->ready && i < resources(); ++i) total[i] += row.total[i];
    nodes.push_back(std::move(row));
  }
}

Index Board::queue_named(const std::string& name) {
  const auto [place, added] = queue_index_.try_emplace(name, static_cast<Index>(queues.size()));
  if (added)
    queues.push_back({.name = name,
                      .limit = std::vector<std::optional<Amount>>(resources()),
                      .allocated = std::vector<Amount>(resources()),
                      .reserved = std::vector<Amount>(resources())});
  return place->second;
}

void Board::add_queues(const ClusterView& seen) {
  for (const QueueView* view : in_order(seen.queues, &QueueView::name, kGroupsMax)) {
    QueueRow& row = queues[queue_named(view->name)];
    row.view = view;
    for (const auto& [name, amount] : view->capability) {
      const auto place = std::ranges::lower_bound(names_, name);
      row.limit[static_cast<std::size_t>(place - names_.begin())] =
          std::clamp<Amount>(amount, 0, kAmountMax);
    }
  }
}

void Board::add_groups(const ClusterView& seen) {
  for (const GroupView* view : in_order(seen.groups, &GroupView::key, kGroupsMax)) {
    const auto named = seen.priority_classes.find(view->priority_class);
    group_index_.emplace(view->key, static_cast<Index>(groups.size()));
    groups.push_back({.view = view,
                      .resources_min = wants_of(view->resources_min),
                      .queue = queue_named(view->queue),
                      .priority = named == seen.priority_classes.end() ? 0 : named->second});
  }
}

void Board::add_pods(const ClusterView& seen) {
  const auto sorted = in_order(seen.pods, &PodView::key, kPodsMax);
  pods.reserve(sorted.size());
  for (const PodView* view : sorted) {
    PodRow row{.view = view, .wants = wants_of(view->requests)};
    row.wants.push_back(wants_of({{std::string(kPodCount), 1}}).front());
    const auto index = static_cast<Index>(pods.size());
    if (view->scheduler == kVolcanoScheduler && view->group.empty())
      row.queue = queue_named(view->queue.empty() ? std::string(kDefaultQueue) : view->queue);
    const auto group = group_index_.find({.ns = view->key.ns, .name = view->group});
    if (view->scheduler == kVolcanoScheduler && group != group_index_.end()) {
      GroupRow& of = groups[group->second];
      row.group = group->second;
      row.queue = of.queue;
      of.members.push_back(index);
      // Without a class of its own a group is as important as its pods.
      if (of.view->priority_class.empty())
        of.priority =
            of.members.size() == 1 ? view->priority : std::max(of.priority, view->priority);
    }
    if (!view->apart.empty()) keep_apart.push_back(index);
    pods.push_back(std::move(row));
  }
}

Index Board::node_named(std::string_view name) const {
  const auto place = std::ranges::lower_bound(
      nodes, name, {}, [](const NodeRow& row) { return std::string_view(row.view->name); });
  const bool found = place != nodes.end() && place->view->name == name;
  return found ? static_cast<Index>(place - nodes.begin()) : kNoIndex;
}

void Board::place_bound_pods() {
  for (Index i = 0; i < pods.size(); ++i) {
    if (!holds(pods[i])) continue;
    pods[i].node = node_named(pods[i].view->node);
    count(i, pods[i].node, 1);
  }
}

void Board::admit_known_groups() {
  for (Index i = 0; i < groups.size(); ++i) {
    const GroupPhase phase = groups[i].view->status.phase;
    if (admitted_before(phase) && !has_lapsed(*this, groups[i])) admit(i);
  }
}

void Board::place(Index pod, Index node) {
  pods[pod].planned = true;
  pods[pod].node = node;
  count(pod, node, 1);
}

void Board::take_back(Index pod) {
  count(pod, pods[pod].node, -1);
  pods[pod].planned = false;
  pods[pod].node = kNoIndex;
}

void Board::admit(Index group) {
  groups[group].admitted = true;
  if (groups[group].holding == 0) reserve(groups[group], 1);
}

void Board::count(Index pod, Index node, Amount sign) {
  PodRow& row = pods[pod];
  const bool known = node != kNoIndex;
  for (const Want& want : row.wants) {
    if (known) nodes[node].free[want.resource] -= sign * want.amount;
    if (known && nodes[node].view->ready) used[want.resource] += sign * want.amount;
    if (row.queue != kNoIndex) queues[row.queue].allocated[want.resource] += sign * want.amount;
  }
  if (known && sign > 0) nodes[node].pods.push_back(pod);
  if (known && sign < 0) std::erase(nodes[node].pods, pod);
  if (row.group == kNoIndex) return;
  GroupRow& group = groups[row.group];
  const bool before = group.holding == 0;
  group.holding = sign > 0 ? group.holding + 1 : group.holding - 1;
  const bool after = group.holding == 0;
  if (group.admitted && before != after) reserve(group, after ? 1 : -1);
}

void Board::reserve(const GroupRow& group, Amount sign) {
  for (const Want& want : group.resources_min) {
    reserved[want.resource] += sign * want.amount;
    queues[group.queue].reserved[want.resource] += sign * want.amount;
  }
}

}  // namespace amdahl::local::scheduling
