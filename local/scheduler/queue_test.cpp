// Queues: open and closed, capability, and who is let in.
#include "local/scheduler/queue.hpp"

#include "local/scheduler/test_world.hpp"

namespace amdahl::local::scheduling {
namespace {

ClusterView one_queue(Resources capability = {}) {
  ClusterView world;
  world.nodes = {node("n1", 4), node("n2", 4)};
  world.queues = {{.name = "research", .uid = "uid-q", .capability = std::move(capability)}};
  return world;
}

void add_queued(ClusterView& world, const std::string& name, int members, Resources least = {}) {
  add_gang(world, name, members);
  group_named(world, name).queue = "research";
  group_named(world, name).resources_min = std::move(least);
}

std::string said(ClusterView& world, const std::string& name) {
  const auto& conditions = group_named(world, name).status.conditions;
  return conditions.empty() ? "" : conditions[0].reason + ": " + conditions[0].message;
}

GroupPhase phase(ClusterView& world, const std::string& name) {
  return group_named(world, name).status.phase;
}

TEST_CASE("A closed queue lets nobody in, and keeps who is in") {
  ClusterView world = one_queue();
  add_queued(world, "a", 2);
  settle(world);
  CHECK(world.queues[0].status.state == QueueState::kOpen);
  world.queues[0].status.state = QueueState::kClosed;
  add_queued(world, "b", 2);
  world.pods.push_back(member("a", 2));
  const Plan plan = settle(world);
  CHECK(bound(plan) == "a-2=n1");
  CHECK(phase(world, "b") == GroupPhase::kPending);
  CHECK(said(world, "b") == "QueueNotOpen: queue research is not open: nothing new is let in");
  CHECK(message_for(plan, "b-0") == "queue research is not open: nothing new is let in");
  CHECK(world.queues[0].status.state == QueueState::kClosing);
  world.pods.clear();
  world.groups.clear();
  settle(world);
  CHECK(world.queues[0].status.state == QueueState::kClosed);
  world.queues[0].status.state = QueueState::kOpen;
  add_queued(world, "b", 2);
  CHECK(settle(world).bindings.size() == 2);
}

TEST_CASE("A queue that does not exist is named, and the default one need not exist") {
  ClusterView world = one_queue();
  world.queues.clear();
  add_queued(world, "a", 1);
  add_gang(world, "b", 1);
  const Plan plan = settle(world);
  CHECK(bound(plan) == "b-0=n1");
  CHECK(message_for(plan, "a-0") == "queue research does not exist: create it, or name another");
}

TEST_CASE("Capability is a ceiling over everything in the queue") {
  ClusterView world = one_queue({{kGpu, 4}});
  add_queued(world, "a", 3);
  add_queued(world, "b", 2);
  const Plan plan = settle(world);
  CHECK(bound(plan) == "a-0=n1 a-1=n1 a-2=n1");
  CHECK(message_for(plan, "b-1") ==
        "pod group is not ready, 2 Pending, 2 minAvailable; Pending: 1 Unschedulable, 1 "
        "Schedulable. Origin reason is b-1: queue research is at its capability of 4 "
        "nvidia.com/gpu: 4 allocated or promised, 1 asked for");
  const QueueStatus& status = world.queues[0].status;
  CHECK(status.running == 1);
  CHECK(status.inqueue == 1);
  CHECK(status.allocated->at(kGpu).to_string() == "3");
  group_named(world, "b").members_min = 1;
  CHECK(bound(settle(world)) == "b-0=n1");
}

TEST_CASE("A group that names what it needs at least waits outside until it could be given") {
  ClusterView world = one_queue();
  add_queued(world, "fits", 4, {{kGpu, 4}});
  add_queued(world, "promised", 5, {{kGpu, 5}});
  add_queued(world, "waits", 1, {{kGpu, 1}});
  world.pods.erase(world.pods.begin() + 4, world.pods.end() - 1);  // "promised" has no pods yet
  const Plan plan = settle(world);
  CHECK(bound(plan) == "fits-0=n1 fits-1=n1 fits-2=n1 fits-3=n1");
  CHECK(phase(world, "promised") == GroupPhase::kInqueue);  // 4 + 5 are within 1.2 times 8
  CHECK(phase(world, "waits") == GroupPhase::kPending);
  CHECK(said(world, "waits") ==
        "NotEnoughResources: the cluster has 8 nvidia.com/gpu: 9 used or promised, 1 asked for");
  CHECK(world.queues[0].status.pending == 1);
}

TEST_CASE("What a queue promised counts against its capability") {
  ClusterView world = one_queue({{kGpu, 4}});
  add_queued(world, "a", 3, {{kGpu, 3}});
  add_queued(world, "b", 2, {{kGpu, 2}});
  world.pods.clear();
  settle(world);
  CHECK(phase(world, "a") == GroupPhase::kInqueue);
  CHECK(phase(world, "b") == GroupPhase::kPending);
}

TEST_CASE("A pod of Volcano without a group obeys the queue it names") {
  ClusterView world = one_queue({{kGpu, 1}});
  for (int i = 0; i < 2; ++i) {
    PodView single = member("", i);
    single.key.name = fmt::format("s{}", i);
    single.uid = single.key.name;
    single.queue = "research";
    world.pods.push_back(single);
  }
  CHECK(bound(settle(world)) == "s0=n1");
  world.queues[0].capability.clear();
  world.queues[0].status.state = QueueState::kClosed;
  const Plan plan = settle(world);
  CHECK(bound(plan).empty());
  CHECK(message_for(plan, "s1") == "queue research is not open: nothing new is let in");
}

TEST_CASE("Amounts are shown as people write them") {
  CHECK(quantity_of("cpu", 1'500).to_string() == "1500m");
  CHECK(quantity_of("cpu", 2'000).to_string() == "2");
  CHECK(quantity_of("memory", Amount{3} << 30).to_string() == "3Gi");
  CHECK(quantity_of("hugepages-2Mi", Amount{4} << 20).to_string() == "4Mi");
  CHECK(quantity_of(kGpu, 8).to_string() == "8");
}

}  // namespace
}  // namespace amdahl::local::scheduling
