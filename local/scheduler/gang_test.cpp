// Scenarios of gangs: who starts, who waits, and what is said of them.
#include "local/scheduler/gang.hpp"

#include "local/scheduler/test_world.hpp"

namespace amdahl::local::scheduling {
namespace {

ClusterView two_nodes() {
  ClusterView world;
  world.nodes = {node("n1", 2), node("n2", 2)};
  return world;
}

GroupPhase phase(ClusterView& world, const std::string& name) {
  return group_named(world, name).status.phase;
}

const GroupCondition* condition(ClusterView& world, const std::string& name,
                                std::string_view type) {
  const auto& conditions = group_named(world, name).status.conditions;
  const auto found = std::ranges::find(conditions, type, &GroupCondition::type);
  return found == conditions.end() ? nullptr : &*found;
}

void run_all(ClusterView& world, const std::string& name) {
  for (PodView& one : world.pods)
    if (one.group == name && !one.node.empty()) one.phase = kube::PodPhase::kRunning;
}

TEST_CASE("A gang that fits exactly is placed whole") {
  ClusterView world = two_nodes();
  add_gang(world, "a", 4);
  CHECK(bound(settle(world)) == "a-0=n1 a-1=n1 a-2=n2 a-3=n2");
  CHECK(phase(world, "a") == GroupPhase::kRunning);
  REQUIRE(condition(world, "a", "Scheduled") != nullptr);
  CHECK(condition(world, "a", "Scheduled")->reason == "tasks in gang are ready to be scheduled");
  CHECK(condition(world, "a", "Unschedulable") == nullptr);
}

TEST_CASE("A gang that is short by one starts nobody, and says by how much") {
  ClusterView world = two_nodes();
  add_gang(world, "a", 5);
  const Plan plan = settle(world);
  CHECK(bound(plan).empty());
  CHECK(phase(world, "a") == GroupPhase::kInqueue);
  const std::string message =
      "pod group is not ready, 5 Pending, 5 minAvailable; Pending: 1 Unschedulable, 4 Schedulable. "
      "Origin reason is a-4: 0/2 nodes are available: 2 Insufficient nvidia.com/gpu.";
  for (int i = 0; i < 5; ++i) CHECK(message_for(plan, fmt::format("a-{}", i)) == message);
  const GroupCondition* said = condition(world, "a", "Unschedulable");
  REQUIRE(said != nullptr);
  CHECK(said->status == kube::ConditionStatus::kTrue);
  CHECK(said->reason == "NotEnoughResources");
  CHECK(said->message == "5/5 tasks in gang unschedulable: " + message);
  CHECK_FALSE(said->transition_id.empty());

  world.nodes.push_back(node("n3", 1));
  CHECK(settle(world).bindings.size() == 5);
  CHECK(condition(world, "a", "Unschedulable")->status == kube::ConditionStatus::kFalse);
  CHECK(condition(world, "a", "Scheduled")->status == kube::ConditionStatus::kTrue);
}

TEST_CASE("Of two gangs that want the same nodes one runs, and the other runs after it") {
  ClusterView world = two_nodes();
  add_gang(world, "b", 3);
  add_gang(world, "a", 3);
  const Plan plan = settle(world);
  CHECK(bound(plan) == "a-0=n1 a-1=n1 a-2=n2");  // the same age: by name
  CHECK(phase(world, "b") == GroupPhase::kInqueue);
  run_all(world, "a");
  for (PodView& one : world.pods)
    if (one.group == "a") one.phase = kube::PodPhase::kSucceeded;
  CHECK(settle(world).bindings.size() == 3);
  CHECK(phase(world, "a") == GroupPhase::kCompleted);
  CHECK(phase(world, "b") == GroupPhase::kRunning);
}

TEST_CASE("Priority goes first, then age, and a large gang does not block a small one") {
  ClusterView world = two_nodes();
  add_gang(world, "young", 4);
  add_gang(world, "old", 4);
  add_gang(world, "urgent", 4);
  group_named(world, "old").created = at_second(-60);
  SECTION("age") {
    group_named(world, "urgent").created = at_second(-30);
    CHECK(bound(settle(world)).starts_with("old-0="));
  }
  SECTION("a class of the group") {
    group_named(world, "urgent").priority_class = "high";
    world.priority_classes = {{"high", 1000}};
    CHECK(bound(settle(world)).starts_with("urgent-0="));
  }
  SECTION("a class that does not exist counts as none") {
    group_named(world, "urgent").priority_class = "high";
    CHECK(bound(settle(world)).starts_with("old-0="));
  }
  SECTION("the priority of the pods") {
    for (PodView& one : world.pods)
      if (one.group == "urgent") one.priority = 5;
    CHECK(bound(settle(world)).starts_with("urgent-0="));
  }
  SECTION("too large for the cluster") {
    world.pods.push_back(member("old", 4));
    group_named(world, "old").members_min = 5;
    CHECK(bound(settle(world)).starts_with("urgent-0="));
  }
}

TEST_CASE("Members beyond the minimum are placed one by one") {
  ClusterView world = two_nodes();
  add_gang(world, "a", 6);
  group_named(world, "a").members_min = 3;
  const Plan plan = settle(world);
  CHECK(plan.bindings.size() == 4);
  CHECK(message_for(plan, "a-5") == "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.");
  CHECK(phase(world, "a") == GroupPhase::kRunning);
}

TEST_CASE("Members that run already count") {
  ClusterView world = two_nodes();
  add_gang(world, "a", 4);
  settle(world);
  run_all(world, "a");
  settle(world);
  CHECK(group_named(world, "a").status.running == 4);
  std::erase_if(world.pods, [](const PodView& one) { return one.key.name == "a-3"; });
  settle(world);
  CHECK(phase(world, "a") == GroupPhase::kUnknown);  // three run, and four were asked for
  CHECK(condition(world, "a", "Unschedulable")->reason == "NotEnoughTasks");
  world.pods.push_back(member("a", 4));
  CHECK(bound(settle(world)) == "a-4=n2");
  CHECK(phase(world, "a") == GroupPhase::kRunning);
}

TEST_CASE("A gang whose pods have all gone or failed queues again") {
  ClusterView world = two_nodes();
  add_gang(world, "a", 4);
  settle(world);
  run_all(world, "a");
  settle(world);
  SECTION("gone") {
    world.pods.clear();
    settle(world);
    CHECK(phase(world, "a") == GroupPhase::kInqueue);
    CHECK(condition(world, "a", "Unschedulable")->message ==
          "Not enough valid tasks for gang-scheduling, valid: 0, min: 4");
  }
  SECTION("failed, with a new attempt beside them") {
    for (PodView& one : world.pods) one.phase = kube::PodPhase::kFailed;
    for (int i = 4; i < 8; ++i) world.pods.push_back(member("a", i));
    CHECK(settle(world).bindings.size() == 4);
    CHECK(group_named(world, "a").status.failed == 4);
    CHECK(phase(world, "a") == GroupPhase::kRunning);
  }
  SECTION("on their way out, they hold their places and count for nothing") {
    for (PodView& one : world.pods) one.deleting = true;
    for (int i = 4; i < 8; ++i) world.pods.push_back(member("a", i));
    world.nodes.push_back(node("n3", 3));
    CHECK(settle(world).bindings.empty());  // three places for four
    CHECK(phase(world, "a") == GroupPhase::kRunning);
    std::erase_if(world.pods, [](const PodView& one) { return one.deleting; });
    CHECK(settle(world).bindings.size() == 4);
  }
}

TEST_CASE("A node that is lost takes no new pods, and its gang waits for another") {
  ClusterView world = two_nodes();
  world.nodes.push_back(node("n3", 2));
  add_gang(world, "a", 4);
  settle(world);
  SECTION("not ready: what is there stays") {
    world.nodes[1].ready = false;
    add_gang(world, "b", 3);
    CHECK(settle(world).bindings.empty());
    CHECK(phase(world, "a") == GroupPhase::kRunning);
  }
  SECTION("gone, and its pods with it") {
    const std::string lost = pod_named(world, "a-3").node;
    std::erase_if(world.nodes, [&](const NodeView& one) { return one.name == lost; });
    std::erase_if(world.pods, [&](const PodView& one) { return one.node == lost; });
    for (int i = 4; i < 6; ++i) world.pods.push_back(member("a", i));
    CHECK(bound(settle(world)) == "a-4=n3 a-5=n3");
  }
  SECTION("gone, and its pods are still written down") {
    std::erase_if(world.nodes, [](const NodeView& one) { return one.name == "n1"; });
    CHECK(settle(world).empty());
  }
}

TEST_CASE("Each task of a gang has its own minimum") {
  ClusterView world = two_nodes();
  add_gang(world, "a", 4);
  for (int i = 0; i < 4; ++i) pod_named(world, fmt::format("a-{}", i)).task = i < 3 ? "w" : "head";
  GroupView& gang = group_named(world, "a");
  gang.members_min = 2;
  SECTION("the head is placed before workers that are not needed") {
    gang.task_members_min = {{"head", 1}};
    pod_named(world, "a-3").requests = {{kGpu, 2}};
    const Plan plan = settle(world);
    CHECK(bound(plan) == "a-0=n2 a-1=n2 a-3=n1");
  }
  SECTION("a head that does not fit keeps the workers out") {
    gang.task_members_min = {{"head", 1}};
    pod_named(world, "a-3").requests = {{kGpu, 3}};
    CHECK(settle(world).bindings.empty());
  }
  SECTION("a task without pods") {
    gang.task_members_min = {{"driver", 1}, {"w", 1}};
    CHECK(settle(world).bindings.empty());
    CHECK(condition(world, "a", "Unschedulable")->reason == "NotEnoughPodsOfTask");
    CHECK(condition(world, "a", "Unschedulable")->message ==
          "Not enough valid pods of each task for gang-scheduling, task driver: valid: 0, min: 1");
  }
}

TEST_CASE("A gang of different sizes is tried with the large ones first") {
  ClusterView world = two_nodes();
  add_gang(world, "a", 3);
  pod_named(world, "a-2").requests = {{kGpu, 2}};
  CHECK(bound(settle(world)) == "a-0=n1 a-1=n1 a-2=n2");
  ClusterView other = two_nodes();
  other.nodes[1].allocatable[kGpu] = 1;
  other.nodes[0].allocatable["cpu"] = 3'000;
  add_gang(other, "b", 2);
  pod_named(other, "b-0").requests = {{"cpu", 2'000}};
  pod_named(other, "b-1").requests = {{"cpu", 2'000}, {kGpu, 2}};
  CHECK(bound(settle(other)) == "b-0=n2 b-1=n1");
}

TEST_CASE("Pods without a group, with one that is missing, or with one that goes") {
  ClusterView world = two_nodes();
  PodView single = pod("single", {{kGpu, 1}});
  single.group = "ignored";  // the default scheduler knows no groups
  PodView lost = member("nobody", 0);
  PodView alone = member("", 1);
  world.pods = {single, lost, alone};
  add_gang(world, "leaving", 1);
  group_named(world, "leaving").deleting = true;
  const Plan plan = settle(world);
  CHECK(bound(plan) == "-1=n1 single=n1");
  CHECK(message_for(plan, "nobody-0") == "pod group ns/nobody does not exist");
  CHECK(message_for(plan, "leaving-0") == "pod group ns/leaving is being deleted");
}

TEST_CASE("A gang whose members must be apart takes as many nodes") {
  ClusterView world = two_nodes();
  add_gang(world, "a", 2);
  for (PodView& one : world.pods) {
    one.labels = {{"arm", "a"}};
    one.apart = {{.labels = {{.key = "arm", .op = kube::SelectorOperator::kIn, .values = {"a"}}},
                  .namespaces = {"ns"},
                  .topology_key = "kubernetes.io/hostname"}};
  }
  SECTION("two of two") {
    CHECK(bound(settle(world)) == "a-0=n1 a-1=n2");
  }
  SECTION("three of two") {
    PodView third = world.pods[0];
    third.key.name = "a-2";
    third.uid = "uid-a-2";
    world.pods.push_back(third);
    group_named(world, "a").members_min = 3;
    CHECK(settle(world).bindings.empty());
  }
}

}  // namespace
}  // namespace amdahl::local::scheduling
