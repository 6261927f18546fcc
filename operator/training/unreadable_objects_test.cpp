// Objects that our types cannot read, of every kind the controller watches, and a reconcile that
// throws: each hurts its own job at most.
#include "operator/api/names.hpp"
#include "operator/training/test_live.hpp"

namespace amdahl::training {
namespace {

using namespace std::chrono_literals;

template <class T>
bool refused(const Json& object) {
  return !decode<T>(object.dump());
}

struct Row {
  const kube::Resource* kind = nullptr;
  bool (*refused)(const Json&) = nullptr;  // by the type in whose cache it goes
  const char* what = "";                   // its parts besides a good name
};

const Row kRows[] = {
    {&kube::kPodGroups, refused<kube::PodGroup>, R"({"spec": {"minResources": {"cpu": "abc"}}})"},
    {&kube::kPodGroups, refused<kube::PodGroup>,
     R"({"spec": {"networkTopology": {"highestTierAllowed": 5000000000}}})"},
    {&kube::kPodGroups, refused<kube::PodGroup>, R"({"status": {"conditions": [{}]}})"},
    {&kube::kPodGroups, refused<kube::PodGroup>, R"({"metadata": {"annotations": 5}})"},
    {&kube::kPods, refused<GangPod>,
     R"({"status": {"containerStatuses": [{"restartCount": 5000000000}]}})"},
    {&kube::kPods, refused<GangPod>,
     R"({"metadata": {"ownerReferences": [{}]}, "spec": {"nodeName": []}})"},
    {&kube::kServices, refused<kube::Service>, R"({"spec": {"ports": [{"port": 5000000000}]}})"},
    {&kVolcanoQueues, refused<VolcanoQueue>, R"({"spec": {"capability": {"cpu": "1e40"}}})"},
    {&kube::kNodes, refused<kube::Node>, R"({"status": {"allocatable": {"memory": "lots"}}})"},
    {&kube::kNodes, refused<kube::Node>, R"({"spec": {"taints": [{}]}})"},
    {&kube::kEvents, refused<kube::Event>,
     R"({"type": "Warning", "regarding": {"kind": "Pod"}, "eventTime": "yesterday"})"},
    {&kube::kEvents, refused<kube::Event>,
     R"({"type": "Warning", "regarding": {"kind": "Node"}, "series": {}})"},
};

void create_all(Live& live, const std::string& prefix) {
  int number = 0;
  for (const Row& row : kRows) {
    Json object = Json::parse(row.what);
    Json& metadata = object["metadata"];
    metadata["name"] = fmt::format("{}-{}", prefix, number++);
    if (row.kind->namespaced) metadata["namespace"] = "hostile";
    metadata["labels"] = {{"amdahl.dev/job", "somebody"}};
    INFO(row.what);
    CHECK(row.refused(object));
    live.server.create(*row.kind, std::move(object));
  }
}

Task<void> runs_to_the_end(Live& live) {
  live.submit(2);
  co_await live.clock.sleep_for(3s);
  for (int rank : {0, 1}) {
    live.server.merge(kube::kPods, live.pod_key(1, rank), {{"spec", {{"nodeName", "n"}}}});
    live.set_phase(live.pod_key(1, rank), "Running");
  }
  co_await live.clock.sleep_for(3s);
  CHECK(live.phase() == "Running");
  create_all(live, "later");
  co_await live.clock.sleep_for(3s);
  for (int rank : {0, 1}) live.set_phase(live.pod_key(1, rank), "Succeeded");
  co_await live.clock.sleep_for(3s);
  CHECK(live.phase() == "Succeeded");
  const Caches& caches = live.program.caches();
  // They are known to exist, so that nothing of their name is made again.
  CHECK(caches.groups.contains({.ns = "hostile", .name = "before-0"}));
  CHECK(caches.groups.contains({.ns = "hostile", .name = "later-3"}));
  CHECK(caches.pods.contains({.ns = "hostile", .name = "later-5"}));
  CHECK(caches.services.contains({.ns = "hostile", .name = "before-6"}));
  CHECK(caches.nodes.contains({.name = "before-8"}));
}

TEST_CASE("Objects that cannot be read keep no job from running, before and after a start",
          "[A1]") {
  Live live;
  create_all(live, "before");  // what a restarted operator finds
  live.run(runs_to_the_end(live));
}

// Its owner is the job, as if it were ours; only a spec that nobody can read tells it apart.
Task<void> own_group(Live& live) {
  live.submit(1);
  co_await live.clock.sleep_for(3s);
  live.server.merge(kube::kPodGroups, {.ns = "research", .name = api::pod_group_name("train")},
                    {{"spec", {{"minResources", {{"cpu", "abc"}}}}}});
  co_await live.clock.sleep_for(3s);
  const std::size_t writes = live.writes();
  co_await live.clock.sleep_for(20s);
  CHECK(live.writes() < writes + 20);  // no loop of writes against what cannot be read
  live.run_all();
  co_await live.clock.sleep_for(3s);
  CHECK(live.phase() == "Running");
}

TEST_CASE("A job whose own group cannot be read goes on", "[A1]") {
  Live live;
  live.run(own_group(live));
}

Task<void> throws(Live& live) {
  live.reader.throws_at = "gs://b/bug";
  live.server.create(kTrainingJobs,
                     Json::parse(R"({"metadata": {"name": "unlucky", "namespace": "research"},
        "spec": {"runtime": "Torchrun", "nodes": 1, "checkpoint": {"uri": "gs://b/bug"},
                 "template": {"spec": {"containers": [{"name": "a", "command": ["b"]}]}}}})"));
  live.submit(1);
  co_await live.clock.sleep_for(3s);
  live.run_all();
  co_await live.clock.sleep_for(3s);
  CHECK(live.phase() == "Running");
  std::vector<Json> told;
  for (const Json& event : live.server.list(kube::kEvents))
    if (event["reason"] == "ReconcileFailed") told.push_back(event);
  REQUIRE(told.size() == 1);
  CHECK(told[0]["type"] == "Warning");
  CHECK(told[0]["regarding"]["name"] == "unlucky");
  CHECK(told[0]["note"].get<std::string>().find("a bug in the reader") != std::string::npos);
}

TEST_CASE("A reconcile that throws is told in an event of its job, and hurts no other", "[A1]") {
  Live live;
  live.run(throws(live));
}

}  // namespace
}  // namespace amdahl::training
