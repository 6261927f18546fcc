// The whole controller against the server in memory, in virtual time.
#include "operator/kube/types_coordination.hpp"
#include "operator/training/test_live.hpp"

namespace amdahl::training {
namespace {

using namespace std::chrono_literals;
using testkit::Fault;

Task<void> submit_to_success(Live& live) {
  co_await live.clock.sleep_for(1s);
  const auto writes = [&] {  // events apart
    return live.server.count_writes("research") - live.server.count_writes("/events");
  };
  const std::size_t before = writes();
  live.submit(3, {{"ttlAfterFinished", "1h"}});
  co_await live.clock.sleep_for(1s);
  CHECK(live.server.list(kube::kPods).size() == 3);
  CHECK(writes() - before == 3 + 2);  // Service and PodGroup
  co_await live.clock.sleep_for(2s);
  CHECK(writes() - before == 3 + 3);  // and one status
  CHECK(live.phase() == "Queued");
  live.run_all();
  co_await live.clock.sleep_for(5s);
  CHECK(live.phase() == "Running");
  const std::size_t running = live.server.count_writes("research");
  co_await live.clock.sleep_for(2h);
  CHECK(live.server.count_writes("research") == running);  // nothing changes, nothing is written
  for (int rank = 0; rank < 3; ++rank) live.set_phase(live.pod_key(1, rank), "Succeeded");
  co_await live.clock.sleep_for(10s);
  CHECK(live.phase() == "Succeeded");
  CHECK(live.server.list(kube::kPodGroups).empty());
  CHECK(live.server.list(kube::kServices).empty());
  REQUIRE(live.server.list(kube::kPods).size() == 3);
  for (const Json& pod : live.server.list(kube::kPods))
    CHECK(pod["metadata"].value("finalizers", Json::array()).empty());
  co_await live.clock.sleep_for(61min);
  CHECK(live.server.list(kTrainingJobs).empty());  // its time to live
}

TEST_CASE("A training job goes from submit to success and is gone an hour later") {
  Live live;
  live.run(submit_to_success(live));
}

Task<void> fails_once(Live& live) {
  live.submit(2, {{"restart", {{"backoff", "1s"}}}});
  co_await live.clock.sleep_for(2s);
  live.run_all();
  co_await live.clock.sleep_for(5s);
  live.set_phase(live.pod_key(1, 1), "Failed");
  co_await live.clock.sleep_for(3s);
  CHECK(live.status()["attempt"] == 2);
  live.kubelets();
  co_await live.clock.sleep_for(10s);
  CHECK(!live.server.find(kube::kPods, live.pod_key(2, 0)).is_null());
  CHECK(live.server.find(kube::kPods, live.pod_key(1, 0)).is_null());
  live.run_all();
  co_await live.clock.sleep_for(5s);
  CHECK(live.phase() == "Running");
  CHECK(live.status()["budgets"]["failures"] == 1);
}

TEST_CASE("A gang that lost a rank is restarted as a whole, under a new number") {
  Live live;
  live.run(fails_once(live));
}

Task<void> pauses(Live& live) {
  live.submit(2, {{"checkpoint", {{"uri", "gs://b/p"}}}});
  co_await live.clock.sleep_for(2s);
  live.run_all();
  co_await live.clock.sleep_for(5s);
  const Json job = live.server.find(kTrainingJobs, kLiveJob);
  const std::string uid = job["metadata"]["uid"];
  const std::string pod = live.server.find(kube::kPods, live.pod_key(1, 0))["metadata"]["uid"];
  api::Report report{.job = "research/train", .job_uid = uid, .attempt = 1, .sequence = 1};
  report.step = 10;
  live.reports.note(report, pod, live.clock.monotonic());
  live.edit({{"suspend", true}});
  co_await live.clock.sleep_for(2s);
  CHECK(live.phase() == "Pausing");
  const JobId id{.key = kLiveJob, .uid = uid};
  CHECK(live.reports.reply_for(id, 1, live.clock.monotonic()).request ==
        api::ReportRequest::kPause);
  report.sequence = 2;
  report.pause = {.state = api::ReportPauseState::kCommitted, .step = 10};
  live.reports.note(report, pod, live.clock.monotonic());
  co_await live.clock.sleep_for(2s);
  live.kubelets();
  co_await live.clock.sleep_for(5s);
  CHECK(live.phase() == "Paused");
  CHECK(live.server.list(kube::kPods).empty());
  CHECK(live.server.list(kube::kPodGroups).empty());
  CHECK(live.status()["pause"]["outcome"] == "Committed");
  live.edit({{"suspend", false}});
  co_await live.clock.sleep_for(3s);
  CHECK(!live.server.find(kube::kPods, live.pod_key(2, 1)).is_null());
  CHECK(live.reports.jobs() == 1);
  live.server.remove(kTrainingJobs, kLiveJob);
  co_await live.clock.sleep_for(3s);
  CHECK(live.reports.jobs() == 0);  // nothing is kept of a job that is gone
}

TEST_CASE("A pause is asked for, committed, carried out and taken back") {
  Live live;
  live.run(pauses(live));
}

Task<void> answers_lost(Live& live) {
  for (const char* part : {"/pods", "/services", "/podgroups", "/trainingjobs"}) {
    live.server.inject(Fault::kLoseAnswer, "POST", part, 2);
    live.server.inject(Fault::kLoseAnswer, "PATCH", part, 2);
    live.server.inject(Fault::kUnavailable, "POST", part, 1);
  }
  live.submit(4);
  co_await live.clock.sleep_for(1min);
  CHECK(live.server.list(kube::kPods).size() == 4);
  live.run_all();
  co_await live.clock.sleep_for(1min);
  CHECK(live.phase() == "Running");
  CHECK(live.status()["attempt"] == 1);
}

TEST_CASE("Lost answers make nothing twice", "[W1]") {
  Live live;
  live.run(answers_lost(live));
}

Task<void> refused_for_good(Live& live) {
  live.refusing.refuse("POST", "/pods",
                       testkit::refuse(422, "Invalid", "Pod is invalid: spec.volumes: boom"));
  live.submit(8);
  co_await live.clock.sleep_for(5s);
  CHECK(live.phase() == "Failed");
  CHECK(live.status()["reason"] == "InvalidSpec");
  CHECK(live.status()["conditions"].dump().find("spec.volumes: boom") != std::string::npos);
  CHECK(live.server.list(kube::kPodGroups).empty());
  CHECK(live.server.list(kube::kServices).empty());
}

TEST_CASE("A template that the API server refuses ends the job with its words") {
  Live live;
  live.run(refused_for_good(live));
}

Task<void> no_quota(Live& live) {
  live.refusing.refuse(
      "POST", "/pods",
      testkit::refuse(403, "Forbidden", "pods is forbidden: exceeded quota: gpu, requested: 8"));
  live.submit(2);
  co_await live.clock.sleep_for(5s);
  CHECK(live.status()["pending"]["reason"] == "QuotaExceeded");
  live.refusing.stop();
  co_await live.clock.sleep_for(2min);
  CHECK(live.server.list(kube::kPods).size() == 2);
  CHECK(live.phase() == "Queued");
}

TEST_CASE("A full quota is waited for") {
  Live live;
  live.run(no_quota(live));
}

Task<void> no_volcano(Live& live) {
  live.refusing.refuse("", "scheduling.volcano.sh",
                       testkit::refuse(404, "NotFound", "the server could not find it"));
  live.submit(2);
  co_await live.clock.sleep_for(5s);
  CHECK(live.status()["pending"]["reason"] == "VolcanoMissing");
  CHECK(live.server.list(kube::kPods).empty());
  live.refusing.stop();
  co_await live.clock.sleep_for(3min);
  CHECK(live.server.list(kube::kPods).size() == 2);
}

TEST_CASE("Without Volcano a job waits, and goes on when it comes") {
  Live live;
  live.run(no_volcano(live));
}

Task<void> taken_name(Live& live) {
  live.server.create(kube::kPods, {{"metadata", {{"name", "train-1-0"}, {"namespace", "research"}}},
                                   {"spec", Json::object()}});
  live.submit(2);
  co_await live.clock.sleep_for(5s);
  CHECK(live.status()["pending"]["reason"] == "NameTaken");
  live.server.remove(kube::kPods, live.pod_key(1, 0));
  co_await live.clock.sleep_for(2min);
  CHECK(live.server.list(kube::kPods).size() == 2);
}

TEST_CASE("A pod that belongs to somebody else is not taken over", "[W1]") {
  Live live;
  live.run(taken_name(live));
}

Task<void> large_gang(Live& live) {
  live.wire.latency = 25ms;
  co_await live.clock.sleep_for(1s);
  live.submit(256);
  co_await live.clock.sleep_for(2s);
  CHECK(live.server.list(kube::kPods).size() == 256);  // one by one they would take 12 s
}

TEST_CASE("The pods of a gang are created side by side") {
  Live live;
  live.run(large_gang(live));
}

// What a newer CRD allows, and what no CRD can forbid.
Task<void> unreadable(Live& live) {
  Json deep = 1;
  for (int i = 0; i < 200; ++i) deep = Json{{"a", deep}};
  const auto create = [&](const char* name, Json spec) {
    live.server.create(kTrainingJobs,
                       {{"metadata", {{"name", name}, {"namespace", "research"}}}, {"spec", spec}});
  };
  create("deep", {{"runtime", "Torchrun"}, {"nodes", 1}, {"template", {{"metadata", deep}}}});
  live.submit(2);
  co_await live.clock.sleep_for(5s);
  create("newer", {{"runtime", "Quantum"}, {"nodes", 1}, {"template", Json::object()}});
  co_await live.clock.sleep_for(5s);
  CHECK(live.server.list(kube::kPods).size() == 2);
  live.run_all();
  co_await live.clock.sleep_for(5s);
  CHECK(live.phase() == "Running");
  const auto job = [&](const char* name) {
    return live.server.find(kTrainingJobs, {.ns = "research", .name = name});
  };
  CHECK_FALSE(job("newer").contains("status"));
  CHECK(job("deep")["status"]["reason"] == "InvalidSpec");
  const std::string told = Json(live.server.list(kube::kEvents)).dump();
  CHECK(told.find("spec.template: cannot be read: ") != std::string::npos);
  CHECK(told.find("\"Unreadable\"") != std::string::npos);
}

TEST_CASE("A job that cannot be read is left alone or refused, and keeps no other from running",
          "[A1]") {
  Live live;
  live.run(unreadable(live));
}

// The server's word for a list in which a key occurs twice.
Task<void> refused_status(Live& live) {
  live.submit(1);
  co_await live.clock.sleep_for(5s);
  live.run_all();
  co_await live.clock.sleep_for(5s);
  const Json pod = live.server.find(kube::kPods, live.pod_key(1, 0));
  api::Report report{.attempt = 1, .sequence = 1, .step = 7};
  report.job = "research/train";
  report.job_uid = live.server.find(kTrainingJobs, kLiveJob)["metadata"]["uid"];
  live.reports.note(report, pod["metadata"]["uid"], live.clock.monotonic());
  const kube::Response invalid{
      .status = 422, .body = R"({"kind":"Status","reason":"Invalid","message":"Duplicate value"})"};
  live.refusing.refuse("PATCH", "/status", invalid, -1, R"("progress")");
  live.edit({{"cancel", true}});
  co_await live.clock.sleep_for(2s);
  CHECK(live.phase() == "Cancelled");
  CHECK_FALSE(live.status().contains("progress"));
  CHECK(live.registry.render().find("amdahl_training_status_refused_total 0") == std::string::npos);
}

TEST_CASE("A status that the API server refuses is written again without what ranks said", "[A8]") {
  Live live;
  live.run(refused_status(live));
}

Task<void> deleted(Live& live) {
  live.submit(2);
  co_await live.clock.sleep_for(2s);
  live.run_all();
  co_await live.clock.sleep_for(2s);
  live.server.remove(kTrainingJobs, kLiveJob);
  for (int rank : {0, 1}) live.server.remove(kube::kPods, live.pod_key(1, rank));  // the collector
  co_await live.clock.sleep_for(5s);
  CHECK(live.server.list(kube::kPods).empty());  // no finalizer held them back
}

TEST_CASE("Pods of a job that is gone are let go", "[W8]") {
  Live live;
  live.run(deleted(live));
}

}  // namespace
}  // namespace amdahl::training
