// Every class of cause, produced once by the whole controller: caches, watches, observe, decide,
// apply. A row writes what the source of that evidence writes on a real cluster: a kubelet's
// status, a node's condition, an event, a rank's report. docs/explanation/why.md has the list, and
// the tests that produce each class on running pods.
#include <set>

#include "operator/training/test_live.hpp"

namespace amdahl::training {
namespace {

using namespace std::chrono_literals;

constexpr int kRank = 1;  // that has the trouble, unless a row says otherwise

struct Row {
  std::string cause = {};
  Json pod = Json::object();   // status of rank 1
  Json more = Json::object();  // further: spec, node, nodeEvent, podEvent, edit, first, report
  std::chrono::seconds wait = 10s;
  std::string says = {};  // in the message
};

Json exited(int code, std::string_view reason = "Error", std::string_view message = "") {
  return {{"phase", code == 0 ? "Succeeded" : "Failed"},
          {"end", {{"exitCode", code}, {"reason", reason}, {"message", message}}}};
}
Json printed(std::string_view words) {
  return exited(1, "Error", words);
}
Json disrupted(std::string_view reason) {
  Json pod = exited(143);
  pod["conditions"] = {{{"type", "DisruptionTarget"}, {"status", "True"}, {"reason", reason}}};
  return pod;
}
Json platform(std::string_view reason, std::string_view message = "") {
  return {{"phase", "Failed"}, {"reason", reason}, {"message", message}};
}
Json waiting(std::string_view reason, std::string_view message) {
  return {{"phase", "Pending"},
          {"containerStatuses",
           {{{"name", "trainer"},
             {"state", {{"waiting", {{"reason", reason}, {"message", message}}}}}}}}};
}

std::vector<Row> platform_rows() {
  const Json xid{{"type", "XidCriticalError"}, {"status", "True"}, {"reason", R"({"79":1})"}};
  const Json oom{{"reason", "SystemOOM"},
                 {"note", "System OOM encountered, victim process: python, pid: 7"}};
  const Json mount{{"reason", "FailedMount"},
                   {"note", R"(MountVolume.SetUp failed for volume "keys": secret "k" not found)"}};
  const Json spot{{"labels", {{"cloud.google.com/gke-spot", "true"}}}};
  return {{"NodeOutOfMemory", exited(137), {{"nodeEvent", oom}}, 10s, "SystemOOM"},
          {"Evicted", platform("Evicted", "The node was low on resource: memory.")},
          {"Preempted", disrupted("PreemptionByScheduler")},
          {"NodeLost", disrupted("DeletionByTaintManager")},
          {"NodeShutdown", platform("Terminated"), {{"node", spot}}, 10s, "spot machine reclaimed"},
          {"Drained", disrupted("EvictionByEvictionAPI")},
          {"ImageNotFound", waiting("ErrImagePull", R"(image "r/x:1": not found)"), {}, 90s},
          {"ImagePullDenied", waiting("ErrImagePull", R"(image "r/x:1": denied)"), {}, 330s},
          {"ImagePullFailed", waiting("ErrImagePull", R"(image "r/x:1": timeout)"), {}, 330s},
          {"ConfigurationMissing",
           waiting("ContainerCreating", ""),
           {{"podEvent", mount}},
           330s,
           R"(secret "k" not found)"},
          {"Unschedulable",
           {{"conditions",
             {{{"type", "PodScheduled"},
               {"status", "False"},
               {"reason", "Unschedulable"},
               {"message", "0/4 nodes are available"}}}}},
           {{"spec", {{"deadlines", {{"queue", "30s"}}}}}, {"unbound", true}},
           60s,
           "0/4 nodes are available"},
          {"DeviceAllocationFailed", platform("UnexpectedAdmissionError")},
          {"GpuFault", exited(1), {{"node", {{"condition", xid}}}}, 10s, "Xid 79"}};
}

std::vector<Row> container_rows() {
  const Json limit{{"template",
                    {{"spec",
                      {{"containers",
                        {{{"name", "trainer"},
                          {"image", "a"},
                          {"command", {"python"}},
                          {"resources", {{"limits", {{"memory", "2Gi"}}}}}}}}}}}}};
  return {
      {"Unknown", exited(1)},
      {"StoppedOnRequest", {}, {{"edit", {{"suspend", true}}}, {"end", 143}}, 90s, "for a pause"},
      {"DidNotStopInTime", {}, {{"edit", {{"cancel", true}}}, {"end", 137}}, 30s, "grace period"},
      {"ContainerOutOfMemory", exited(137, "OOMKilled"), {{"spec", limit}}, 10s, "2Gi"},
      {"Killed", exited(137)},
      {"NativeCrash", exited(139)},
      {"CommandNotFound", exited(127)},
      {"Hang", {}, {{"report", 7}}, 16min, "rank 0, which reports steps, is at step 7"},
      {"EarlyExit", {}, {{"first", exited(0, "Completed")}}, 31min, "rank 0 exited with 0"},
      // Whoever reports, and no step, may be at its last evaluation.
      {"", {}, {{"first", exited(0, "Completed")}, {"report", nullptr}}, 25min, ""}};
}

std::vector<Row> text_rows() {
  const auto traceback = [](std::string_view error) {
    return printed(fmt::format(
        "Traceback (most recent call last):\n  File \"/app/train.py\", line 12, in main\n"
        "  File \"/usr/lib/python3/dist-packages/torch/nn/functional.py\", line 9, in f\n{}\n",
        error));
  };
  return {{"WorkerProcessKilled",
           traceback("RuntimeError: DataLoader worker (pid 7) is killed by signal: Killed.")},
          {"GpuOutOfMemory", traceback("torch.OutOfMemoryError: CUDA out of memory.")},
          {"CollectiveTimeout",
           printed("[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, "
                   "OpType=ALLREDUCE, Timeout(ms)=600000)"),
           {},
           30s},
          {"PeerConnectionLost",
           traceback("RuntimeError: [gloo] Connection closed by peer [10.0.0.1]:5"),
           {},
           30s},
          {"Diverged", traceback("ValueError: loss is nan")},
          {"UserException", traceback("KeyError: 'labels'"), {}, 10s, "train.py:12 in main"},
          {"RendezvousTimeout",
           traceback("torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError"),
           {},
           30s}};
}

std::vector<Row> all_rows() {
  std::vector<Row> rows = platform_rows();
  for (const auto& more : {container_rows(), text_rows()})
    rows.insert(rows.end(), more.begin(), more.end());
  for (Row& row : rows)
    for (Json* part : {&row.pod, &row.more})
      if (part->is_null()) *part = Json::object();
  return rows;
}

// The kubelet's words about the end of the trainer, with their times.
Json status_of_pod(Live& live, Json pod, WallTime started) {
  const auto end = pod.find("end");
  if (end == pod.end()) return pod;
  Json terminated = *end;
  terminated["startedAt"] = format_time(started);
  terminated["finishedAt"] = format_time(live.clock.wall());
  pod["containerStatuses"] = {{{"name", "trainer"}, {"state", {{"terminated", terminated}}}}};
  pod.erase("end");
  return pod;
}

void add_event(Live& live, const Json& event, std::string_view kind, const kube::ObjectKey& key) {
  const Json object = kind == "Pod" ? live.server.find(kube::kPods, key) : Json();
  live.server.create(
      kube::kEvents,
      {{"metadata", {{"name", "said"}, {"namespace", kind == "Pod" ? key.ns : "default"}}},
       {"type", "Warning"},
       {"reason", event["reason"]},
       {"note", event["note"]},
       {"deprecatedLastTimestamp", format_time(live.clock.wall())},
       {"regarding",
        {{"kind", kind},
         {"name", key.name},
         {"uid", kind == "Pod" ? object["metadata"]["uid"] : Json(key.name)}}}});
}

void add_node(Live& live, const Json& more) {
  Json node{{"metadata", {{"name", "n"}, {"labels", more.value("labels", Json::object())}}},
            {"status",
             {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}},
              {"allocatable", {{"cpu", "64"}, {"memory", "512Gi"}}}}}};
  live.server.create(kube::kNodes, std::move(node));
}

void tell(Live& live, const Row& row) {
  const Json& more = row.more;
  if (more.contains("nodeEvent")) add_event(live, more["nodeEvent"], "Node", {.name = "n"});
  if (more.contains("podEvent")) add_event(live, more["podEvent"], "Pod", live.pod_key(1, kRank));
}

void happen(Live& live, const Row& row, WallTime started) {
  const kube::ObjectKey pod = live.pod_key(1, kRank);
  const Json& more = row.more;
  if (more.contains("node") && more["node"].contains("condition"))
    live.server.merge(kube::kNodes, {.name = "n"},
                      {{"status", {{"conditions", {more["node"]["condition"]}}}}}, "status");
  if (more.contains("report")) {
    const std::string uid = live.server.find(kTrainingJobs, kLiveJob)["metadata"]["uid"];
    for (int rank : {0, 1}) {
      api::Report report{.job = "research/train", .job_uid = uid, .attempt = 1, .sequence = 1};
      report.rank = rank;
      if (rank == 0 && more["report"].is_number()) report.step = more["report"].get<std::int64_t>();
      const Json from = live.server.find(kube::kPods, live.pod_key(1, rank));
      live.reports.note(report, from["metadata"]["uid"], live.clock.monotonic());
    }
  }
  if (more.contains("first"))
    live.server.merge(kube::kPods, live.pod_key(1, 0),
                      {{"status", status_of_pod(live, more["first"], started)}}, "status");
  if (more.contains("edit")) live.edit(more["edit"]);
  if (!row.pod.empty())
    live.server.merge(kube::kPods, pod, {{"status", status_of_pod(live, row.pod, started)}},
                      "status");
}

// Whatever is being deleted ends with that code.
void end_deleted(Live& live, int code, WallTime started) {
  for (const Json& pod : live.server.list(kube::kPods))
    if (pod["metadata"].contains("deletionTimestamp"))
      live.server.merge(kube::kPods, {.ns = kLiveJob.ns, .name = pod["metadata"]["name"]},
                        {{"status", status_of_pod(live, exited(code), started)}}, "status");
}

void start(Live& live, const Row& row) {
  if (row.more.contains("unbound")) return;
  const bool waits = row.pod.value("phase", "") == "Pending";
  for (const Json& pod : live.server.list(kube::kPods)) {
    const kube::ObjectKey key{.ns = kLiveJob.ns, .name = pod["metadata"]["name"]};
    live.server.merge(kube::kPods, key, {{"spec", {{"nodeName", "n"}}}});
    const Json bound{{"type", "PodScheduled"},
                     {"status", "True"},
                     {"lastTransitionTime", format_time(live.clock.wall())}};
    live.server.merge(
        kube::kPods, key,
        {{"status", {{"phase", waits ? "Pending" : "Running"}, {"conditions", {bound}}}}},
        "status");
  }
}

Json cause_of(const Live& live) {
  for (const Json& attempt : live.status().value("attempts", Json::array()))
    if (attempt.contains("cause")) return attempt["cause"];
  return Json::object();
}

Task<void> produce(Live& live, Row row) {
  add_node(live, row.more.value("node", Json::object()));
  Json spec{{"restart", {{"maxFailures", 9}, {"backoff", "1s"}}}};
  spec.merge_patch(row.more.value("spec", Json::object()));
  live.submit(2, spec);
  co_await live.clock.sleep_for(3s);
  start(live, row);
  const WallTime started = live.clock.wall();
  co_await live.clock.sleep_for(5s);
  tell(live, row);
  co_await live.clock.sleep_for(1s);
  happen(live, row, started);
  for (std::chrono::seconds waited{0}; waited < row.wait; waited += 5s) {
    co_await live.clock.sleep_for(5s);
    if (row.more.contains("end")) end_deleted(live, row.more["end"].get<int>(), started);
  }
  INFO(row.cause << " " << live.status().dump());
  const Json cause = cause_of(live);
  CHECK(cause.value("class", "") == row.cause);
  CHECK(cause.value("message", "").find(row.says) != std::string::npos);
}

TEST_CASE("Every class of cause is produced by the controller from its own evidence", "[B3][B4]") {
  for (const Row& row : all_rows()) {
    Live live;
    live.run(produce(live, row));
  }
}

TEST_CASE("No class of cause is left out", "[B3]") {
  std::set<std::string> produced;
  for (const Row& row : all_rows()) produced.insert(row.cause);
  for (const auto& [value, word] : enum_names(api::CauseClass{}))
    CHECK(produced.contains(std::string(word)));
}

Task<void> waits_for_secret(Live& live) {
  add_node(live, Json::object());
  live.submit(1);
  co_await live.clock.sleep_for(3s);
  start(live, Row{.pod = waiting("ContainerCreating", "")});
  co_await live.clock.sleep_for(15s);
  CHECK(live.status()["pending"]["reason"] == "Starting");
  add_event(live, {{"reason", "FailedMount"}, {"note", R"(secret "k" not found)"}}, "Pod",
            live.pod_key(1, 0));
  co_await live.clock.sleep_for(5s);  // the event alone brings the next look
  CHECK(live.status()["pending"]["reason"] == "WaitingForConfiguration");
  CHECK(live.status()["pending"]["message"].get<std::string>().find("secret \"k\"") !=
        std::string::npos);
}

TEST_CASE("A pod that waits for a volume says which one, as soon as its kubelet does", "[B3]") {
  Live live;
  live.run(waits_for_secret(live));
}

}  // namespace
}  // namespace amdahl::training
