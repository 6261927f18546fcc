// The scheduler as a controller, in virtual time, against the embedded API server.
#include "local/scheduler/scheduler.hpp"

#include "local/scheduler/test_local_cluster.hpp"

namespace amdahl::local {
namespace {
using namespace std::chrono_literals;
using scheduling::cached::kQueues;

Json node_manifest(const std::string& name, int gpus) {
  const Json amounts{
      {"cpu", "8"}, {"memory", "16Gi"}, {"pods", "110"}, {"nvidia.com/gpu", std::to_string(gpus)}};
  return {{"metadata", {{"name", name}}},
          {"status",
           {{"capacity", amounts},
            {"allocatable", amounts},
            {"conditions", Json::array({{{"type", "Ready"}, {"status", "True"}}})}}}};
}

// As a node controller does when a node has become ready.
Task<void> add_node(LocalCluster& cluster, std::string name, int gpus) {
  (void)co_await cluster.create(kube::kNodes, node_manifest(name, gpus));
  const kube::DynamicApi nodes(*cluster.admin, kube::kNodes);
  const Json untainted{{"spec", {{"taints", nullptr}}}};
  REQUIRE(co_await nodes.patch({.ns = "", .name = name}, untainted, {.field_manager = "test"}));
}

Json pod_manifest(const std::string& name, const std::string& group, int gpus) {
  Json pod{{"metadata", {{"name", name}, {"namespace", "ns"}}},
           {"spec",
            {{"containers",
              Json::array(
                  {{{"name", "trainer"},
                    {"image", "trainer"},
                    {"resources", {{"limits", {{"nvidia.com/gpu", std::to_string(gpus)}}}}}}})}}}};
  if (group.empty()) return pod;
  pod["spec"]["schedulerName"] = "volcano";
  pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = group;
  return pod;
}

Task<void> add_gang(LocalCluster& cluster, std::string name, int members) {
  (void)co_await cluster.create(
      kube::kPodGroups,
      {{"metadata", {{"name", name}, {"namespace", "ns"}}}, {"spec", {{"minMember", members}}}});
  for (int i = 0; i < members; ++i)
    (void)co_await cluster.create(kube::kPods,
                                  pod_manifest(fmt::format("{}-{}", name, i), name, 1));
}

Task<std::string> nodes_of(LocalCluster& cluster, std::string gang, int members) {
  std::string text;
  for (int i = 0; i < members; ++i) {
    const Json pod =
        co_await cluster.get(kube::kPods, {.ns = "ns", .name = fmt::format("{}-{}", gang, i)});
    text += pod["spec"].value("nodeName", "-") + " ";
  }
  co_return text;
}

std::string condition_of(const Json& object, const std::string& type) {
  for (const Json& one : object["status"].value("conditions", Json::array()))
    if (one["type"] == type)
      return one["status"].get<std::string>() + " " + one.value("reason", "") + " " +
             one.value("message", "");
  return "";
}

Task<void> gang_waits_for_a_node(LocalCluster& cluster) {
  co_await add_node(cluster, "n1", 2);
  co_await add_gang(cluster, "a", 4);
  co_await cluster.clock.sleep_for(5s);
  CHECK(co_await nodes_of(cluster, "a", 4) == "- - - - ");
  const Json pod = co_await cluster.get(kube::kPods, {.ns = "ns", .name = "a-3"});
  CHECK(condition_of(pod, "PodScheduled") ==
        "False Unschedulable pod group is not ready, 4 Pending, 4 minAvailable; Pending: 2 "
        "Unschedulable, 2 Schedulable. Origin reason is a-2: 0/1 nodes are available: 1 "
        "Insufficient nvidia.com/gpu.");
  Json group = co_await cluster.get(kube::kPodGroups, {.ns = "ns", .name = "a"});
  CHECK(group["status"]["phase"] == "Inqueue");
  CHECK(condition_of(group, "Unschedulable").starts_with("True NotEnoughResources 4/4 tasks"));

  // Said once, then silence.
  const auto version = cluster.server.version();
  const auto writes = cluster.scheduler->writes();
  co_await cluster.clock.sleep_for(10min);
  CHECK(cluster.scheduler->writes() == writes);
  CHECK(cluster.server.version() == version);

  co_await add_node(cluster, "n2", 2);
  co_await cluster.clock.sleep_for(5s);
  CHECK(co_await nodes_of(cluster, "a", 4) == "n1 n1 n2 n2 ");
  group = co_await cluster.get(kube::kPodGroups, {.ns = "ns", .name = "a"});
  CHECK(group["status"]["phase"] == "Running");
  CHECK(condition_of(group, "Scheduled").starts_with("True"));
  CHECK(condition_of(group, "Unschedulable").starts_with("False"));
  const Json queue = co_await cluster.get(kQueues, {.ns = "", .name = "default"});
  CHECK(queue["status"]["state"] == "Open");
  CHECK(queue["status"]["running"] == 1);
  CHECK(queue["status"]["allocated"]["nvidia.com/gpu"] == "4");
  const auto settled = cluster.server.version();
  co_await cluster.clock.sleep_for(3h);  // with the periodic pass
  CHECK(cluster.server.version() == settled);
}

TEST_CASE("Scheduler binds a gang when the last node it needs arrives, and then is silent") {
  LocalCluster cluster;
  cluster.run(gang_waits_for_a_node);
}

Task<void> single_pods(LocalCluster& cluster) {
  co_await add_node(cluster, "n1", 1);
  (void)co_await cluster.create(kube::kPods, pod_manifest("first", "", 1));
  co_await cluster.clock.sleep_for(1s);
  (void)co_await cluster.create(kube::kPods, pod_manifest("second", "", 1));
  co_await cluster.clock.sleep_for(1s);
  const Json first = co_await cluster.get(kube::kPods, {.ns = "ns", .name = "first"});
  CHECK(first["spec"]["nodeName"] == "n1");
  CHECK(condition_of(first, "PodScheduled") == "True  ");
  const Json second = co_await cluster.get(kube::kPods, {.ns = "ns", .name = "second"});
  CHECK(condition_of(second, "PodScheduled") ==
        "False Unschedulable 0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
  const kube::DynamicApi pods(*cluster.admin, kube::kPods);
  REQUIRE(co_await pods.remove({.ns = "ns", .name = "first"}, {.grace_seconds = 0}));
  co_await cluster.clock.sleep_for(1s);
  const Json later = co_await cluster.get(kube::kPods, {.ns = "ns", .name = "second"});
  CHECK(later["spec"]["nodeName"] == "n1");
}

TEST_CASE("Scheduler gives the place of a pod that is gone to the one that waits") {
  LocalCluster cluster;
  cluster.run(single_pods);
}

Task<void> someone_else_binds(LocalCluster& cluster) {
  co_await add_node(cluster, "n1", 8);
  co_await cluster.clock.sleep_for(1s);
  for (int i = 0; i < 8; ++i) {
    const std::string name = fmt::format("p{}", i);
    (void)co_await cluster.create(kube::kPods, pod_manifest(name, "", 1));
    if (i % 2 == 0) continue;
    // Before the scheduler, which gathers for a while.
    const Json binding{{"metadata", {{"name", name}}}, {"target", {{"name", "n1"}}}};
    auto request = kube::create_request(kube::kPods, "ns", name, binding.dump(), "", "binding");
    (void)co_await cluster.admin->send(*std::move(request));  // either of us may be first
  }
  co_await cluster.clock.sleep_for(5s);
  for (int i = 0; i < 8; ++i) {
    const Json pod = co_await cluster.get(kube::kPods, {.ns = "ns", .name = fmt::format("p{}", i)});
    CHECK(pod["spec"].value("nodeName", "") == "n1");
  }
}

TEST_CASE("Scheduler lives with others that bind pods under its hands") {
  LocalCluster cluster;
  cluster.run(someone_else_binds);
}

Task<void> many_at_once(LocalCluster& cluster) {
  for (int i = 0; i < 4; ++i) co_await add_node(cluster, fmt::format("n{}", i), 8);
  co_await add_gang(cluster, "a", 32);
  co_await add_gang(cluster, "b", 2);
  co_await cluster.clock.sleep_for(5s);
  CHECK((co_await nodes_of(cluster, "a", 32)).find('-') == std::string::npos);
  CHECK(co_await nodes_of(cluster, "b", 2) == "- - ");
  // One binding a pod, and no pass that forgot what the last one did.
  const Json b = co_await cluster.get(kube::kPodGroups, {.ns = "ns", .name = "b"});
  CHECK(b["status"]["phase"] == "Inqueue");
}

TEST_CASE("Scheduler counts what it has bound before its cache has seen it") {
  LocalCluster cluster;
  cluster.run(many_at_once);
}

}  // namespace
}  // namespace amdahl::local
