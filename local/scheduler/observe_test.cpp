// Manifests as people write them into what the scheduler decides upon.
#include "local/scheduler/observe.hpp"

#include <catch2/catch.hpp>

#include "base/json_decode.hpp"
#include "local/scheduler/own_writes.hpp"
#include "operator/kube/yaml_bounded.hpp"

namespace amdahl::local::scheduling {
namespace {

template <class T>
T from_yaml(std::string_view text) {
  const auto parsed = kube::parse_yaml(text, "test");
  REQUIRE(parsed);
  const std::string json = kube::to_json(*parsed).dump();
  auto object = decode<T>(json);
  INFO((object ? "" : object.error().context));
  REQUIRE(object);
  return *std::move(object);
}

TEST_CASE("pod_requests takes the larger of starting up and running, and the overhead") {
  struct Row {
    const char* what;
    const char* spec;
    Resources want;
  };
  const std::vector<Row> rows = {
      {"nothing", "containers: [{}]", {}},
      {"containers add up",
       "containers: [{resources: {requests: {cpu: 500m, memory: 1Gi}}}, {resources: {requests: "
       "{cpu: 1}}}]",
       {{"cpu", 1'500}, {"memory", Amount{1} << 30}}},
      {"an init container that needs more",
       "{initContainers: [{resources: {requests: {cpu: 3}}}], containers: [{resources: {requests: "
       "{cpu: 1, memory: 1Gi}}}]}",
       {{"cpu", 3'000}, {"memory", Amount{1} << 30}}},
      {"init containers follow each other",
       "{initContainers: [{resources: {requests: {cpu: 3}}}, {resources: {requests: {cpu: 2}}}], "
       "containers: [{}]}",
       {{"cpu", 3'000}}},
      {"a sidecar runs beside what comes after it",
       "{initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 1}}}, {resources: "
       "{requests: {cpu: 3}}}], containers: [{resources: {requests: {cpu: 2}}}]}",
       {{"cpu", 4'000}}},
      {"a sidecar runs beside the containers",
       "{initContainers: [{resources: {requests: {cpu: 1}}}, {restartPolicy: Always, resources: "
       "{requests: {cpu: 1}}}], containers: [{resources: {requests: {cpu: 2}}}]}",
       {{"cpu", 3'000}}},
      {"a limit is a request",
       "containers: [{resources: {limits: {nvidia.com/gpu: 8, cpu: 4}, requests: {cpu: 2}}}]",
       {{"cpu", 2'000}, {"nvidia.com/gpu", 8}}},
      {"overhead",
       "{overhead: {cpu: 250m}, containers: [{resources: {requests: {cpu: 1}}}]}",
       {{"cpu", 1'250}}},
      {"parts of a unit are rounded up",
       "containers: [{resources: {requests: {cpu: 0.0001, memory: 100m}}}]",
       {{"cpu", 1}, {"memory", 1}}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(pod_requests(from_yaml<cached::PodSpec>(row.spec)) == row.want);
  }
}

constexpr std::string_view kPod = R"(
metadata:
  name: p
  namespace: research
  uid: u
  labels: {app: x, volcano.sh/task-spec: worker}
  annotations: {scheduling.k8s.io/group-name: llama}
  creationTimestamp: "2026-11-16T08:00:00Z"
spec:
  schedulerName: volcano
  priorityClassName: high
  nodeSelector: {zone: east}
  schedulingGates: [{name: wait}]
  tolerations: [{key: team, operator: Exists, effect: NoSchedule}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: gen, operator: Gt, values: ["4"]}]
        - matchExpressions: [{key: gen, operator: Gt, values: []}]
        - matchFields: [{key: metadata.name, operator: In, values: [n1]}]
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 7, preference: {matchExpressions: [{key: gen, operator: DoesNotExist}]}}
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: zone, labelSelector: {matchLabels: {app: x}}}
      - {topologyKey: zone, namespaceSelector: {}, labelSelector: {}}
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: zone, namespaces: [a, b]}
      - {topologyKey: zone, namespaceSelector: {matchLabels: {t: x}}, labelSelector: {}}
  containers: [{}]
status:
  phase: Pending
  conditions:
  - {type: PodScheduled, status: "False", reason: Unschedulable, message: full}
)";

TEST_CASE("pod_view reads what decides over a place") {
  const PodView view = pod_view(from_yaml<cached::Pod>(kPod), {{"high", 9}});
  CHECK(kube::to_string(view.key) == "research/p");
  CHECK(view.scheduler == kVolcanoScheduler);
  CHECK(view.group == "llama");
  CHECK(view.task == "worker");
  CHECK(view.priority == 9);
  CHECK(view.gated);
  CHECK(view.phase == kube::PodPhase::kPending);
  CHECK(view.node_selector.find("zone") == "east");
  REQUIRE(view.tolerations.size() == 1);
  CHECK(view.tolerations[0] == Toleration{.key = "team", .op = "Exists", .effect = "NoSchedule"});
  REQUIRE(view.scheduled);
  CHECK(view.scheduled->message == "full");
  REQUIRE((view.node_terms && view.node_terms->size() == 3));
  CHECK(view.node_terms->at(0).labels[0].op == kube::SelectorOperator::kGreater);
  CHECK(view.node_terms->at(1).never);  // a comparison with nothing
  CHECK(view.node_terms->at(2).fields.size() == 1);
  REQUIRE(view.preferred_nodes.size() == 1);
  CHECK(view.preferred_nodes[0].weight == 7);
  REQUIRE(view.together.size() == 2);
  CHECK(view.together[0].namespaces == std::vector<std::string>{"research"});
  CHECK(view.together[1].all_namespaces);
  CHECK_FALSE(view.together[1].never);
  REQUIRE(view.apart.size() == 2);
  CHECK(view.apart[0].never);  // without a selector it chooses nobody
  CHECK(view.apart[0].namespaces == std::vector<std::string>{"a", "b"});
  CHECK(view.apart[1].unsupported);
}

TEST_CASE("A pod's priority is its own number, then its class, then none") {
  cached::Pod pod;
  CHECK(pod_view(pod, {{"high", 3}}).priority == 0);
  pod.spec.priority_class = "high";
  CHECK(pod_view(pod, {{"high", 3}}).priority == 3);
  CHECK(pod_view(pod, {}).priority == 0);
  pod.spec.priority = -1;
  CHECK(pod_view(pod, {{"high", 3}}).priority == -1);
}

TEST_CASE("The group of a pod is found by either annotation, the common one first") {
  cached::Pod pod;
  pod.metadata.annotations = {{"scheduling.volcano.sh/group-name", "b"}};
  CHECK(pod_view(pod, {}).group == "b");
  pod.metadata.annotations = {{"scheduling.k8s.io/group-name", "a"},
                              {"scheduling.volcano.sh/group-name", "b"},
                              {"scheduling.volcano.sh/queue-name", "q"}};
  CHECK(pod_view(pod, {}).group == "a");
  CHECK(pod_view(pod, {}).queue == "q");
}

TEST_CASE("node_view is ready when it says so, or says nothing") {
  const auto ready = [](std::string_view status) {
    return node_view(from_yaml<kube::Node>(status)).ready;
  };
  CHECK(ready("metadata: {name: n}"));
  CHECK(ready("{metadata: {name: n}, status: {conditions: [{type: Ready, status: 'True'}]}}"));
  CHECK_FALSE(
      ready("{metadata: {name: n}, status: {conditions: [{type: Ready, status: 'False'}]}}"));
  CHECK_FALSE(
      ready("{metadata: {name: n}, status: {conditions: [{type: Ready, status: Unknown}]}}"));
  const NodeView view = node_view(from_yaml<kube::Node>(
      "{metadata: {name: n}, status: {capacity: {cpu: 4}, allocatable: {cpu: 3500m, pods: 10}}}"));
  CHECK(view.allocatable == Resources{{"cpu", 3'500}, {"pods", 10}});
}

TEST_CASE("group_view and queue_view read Volcano's kinds") {
  const GroupView group = group_view(from_yaml<cached::PodGroup>(
      "{metadata: {name: g, namespace: ns}, spec: {minMember: 4, minTaskMember: {head: 1}, "
      "minResources: {nvidia.com/gpu: 8}, priorityClassName: high}, status: {phase: Inqueue}}"));
  CHECK(group.members_min == 4);
  CHECK(group.task_members_min.at("head") == 1);
  CHECK(group.resources_min == Resources{{"nvidia.com/gpu", 8}});
  CHECK(group.queue == "default");
  CHECK(group.status.phase == GroupPhase::kInqueue);
  const QueueView queue = queue_view(from_yaml<cached::Queue>(
      "{metadata: {name: q}, spec: {capability: {cpu: 10}, weight: 2}, status: {state: Closing}}"));
  CHECK(queue.capability == Resources{{"cpu", 10'000}});
  CHECK(queue.weight == 2);
  CHECK(queue.status.state == QueueState::kClosing);
  CHECK_FALSE(queue.status.allocated);
}

TEST_CASE("OwnWrites hold until the cache has caught up") {
  OwnWrites own;
  const Binding binding{.pod = {.ns = "ns", .name = "p"}, .uid = "u", .node = "n1"};
  cached::Pod seen;
  seen.metadata.uid = "u";
  seen.metadata.version = "5";
  PodView view{.uid = "u"};
  const auto look = [&] {
    view = PodView{.uid = "u", .node = seen.spec.node};
    own.overlay(seen, view);
  };
  SECTION("a binding") {
    own.bound(binding);
    look();
    CHECK(view.node == "n1");
    seen.spec.node = "n2";  // somebody else was faster: what is seen wins
    look();
    CHECK(view.node == "n2");
    CHECK(own.size() == 0);
  }
  SECTION("a binding whose answer was lost") {
    own.maybe_bound(binding);
    look();
    CHECK(view.node == "n1");
    REQUIRE(own.uncertain() == std::vector{binding});
    SECTION("happened") {
      own.asked(binding, "n1");
      look();
      CHECK(view.node == "n1");
    }
    SECTION("did not happen") {
      own.asked(binding, "");
      look();
      CHECK(view.node.empty());
    }
    CHECK(own.uncertain().empty());
  }
  SECTION("a condition") {
    own.said({.uid = "u", .reason = "Unschedulable", .message = "full"}, "7");
    look();
    REQUIRE(view.scheduled);
    CHECK(view.scheduled->message == "full");
    seen.metadata.version = "7";
    look();
    CHECK_FALSE(view.scheduled);
    CHECK(own.size() == 0);
  }
  SECTION("a pod that is gone is forgotten") {
    own.bound(binding);
    own.said({.uid = "v", .reason = "", .message = ""}, "7");
    own.keep_only({"u"});
    CHECK(own.size() == 1);
  }
}

}  // namespace
}  // namespace amdahl::local::scheduling
