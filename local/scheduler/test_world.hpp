// Clusters for tests, in a few words; and what a plan does to them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "local/scheduler/schedule.hpp"

namespace amdahl::local::scheduling {

inline constexpr const char* kGpu = "nvidia.com/gpu";

inline WallTime at_second(std::int64_t second) {
  return WallTime{std::chrono::seconds{1'700'000'000 + second}};
}

inline NodeView node(std::string name, Amount gpus, Amount cpu = 64'000) {
  return {.name = std::move(name),
          .allocatable = {{"cpu", cpu}, {"memory", Amount{64} << 30}, {"pods", 110}, {kGpu, gpus}}};
}

inline PodView pod(std::string name, Resources requests) {
  PodView view{.key = {.ns = "ns", .name = name}, .requests = std::move(requests)};
  view.uid = "uid-" + name;
  view.created = at_second(0);
  return view;
}

inline GroupView group(std::string name, std::int32_t members_min) {
  GroupView view{.key = {.ns = "ns", .name = name}, .members_min = members_min};
  view.uid = "uid-" + name;
  view.created = at_second(0);
  return view;
}

inline PodView member(const std::string& group, int index, Amount gpus = 1) {
  PodView view = pod(fmt::format("{}-{}", group, index), {{kGpu, gpus}});
  view.scheduler = std::string(kVolcanoScheduler);
  view.group = group;
  return view;
}

inline void add_gang(ClusterView& world, const std::string& name, int members, Amount gpus = 1) {
  world.groups.push_back(group(name, members));
  for (int i = 0; i < members; ++i) world.pods.push_back(member(name, i, gpus));
}

inline PodView& pod_named(ClusterView& world, const std::string& name) {
  const auto found = std::ranges::find(
      world.pods, name, [](const PodView& one) -> const std::string& { return one.key.name; });
  REQUIRE(found != world.pods.end());
  return *found;
}
inline GroupView& group_named(ClusterView& world, const std::string& name) {
  const auto found = std::ranges::find(
      world.groups, name, [](const GroupView& one) -> const std::string& { return one.key.name; });
  REQUIRE(found != world.groups.end());
  return *found;
}

// The cluster after the API server has taken the plan.
inline void apply(ClusterView& world, const Plan& plan) {
  for (const Binding& binding : plan.bindings) {
    PodView& bound = pod_named(world, binding.pod.name);
    bound.node = binding.node;
    bound.scheduled = ScheduledCondition{.status = kube::ConditionStatus::kTrue};
  }
  for (const Unplaced& one : plan.unplaced)
    pod_named(world, one.pod.name).scheduled = ScheduledCondition{
        .status = kube::ConditionStatus::kFalse, .reason = one.reason, .message = one.message};
  for (const GroupUpdate& update : plan.groups)
    group_named(world, update.group.name).status = update.status;
  for (const QueueUpdate& update : plan.queues) {
    const auto found = std::ranges::find(world.queues, update.queue, &QueueView::name);
    REQUIRE(found != world.queues.end());
    found->status = update.status;
  }
}

// Plans, applies, and checks that nothing is left to do.
inline Plan settle(ClusterView& world, WallTime now = at_second(100)) {
  const Plan plan = schedule(world, now);
  apply(world, plan);
  CHECK(schedule(world, now + std::chrono::seconds{5}).empty());
  return plan;
}

// "a-0=n1 a-1=n1": what a plan binds.
inline std::string bound(const Plan& plan) {
  std::string text;
  for (const Binding& one : plan.bindings)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", one.pod.name, one.node);
  return text;
}

inline std::string message_for(const Plan& plan, const std::string& name) {
  const auto found = std::ranges::find(
      plan.unplaced, name, [](const Unplaced& one) -> const std::string& { return one.pod.name; });
  return found == plan.unplaced.end() ? "" : found->message;
}

}  // namespace amdahl::local::scheduling
