// Checkpoints that are looked at before GPUs are asked for, with the whole controller.
#include "operator/training/test_live.hpp"

namespace amdahl::training {
namespace {

using namespace std::chrono_literals;

FoundCheckpoint step_62() {
  return {.step = 62, .digest = "sha256:62", .bytes = 8};
}

// Runs, commits step 62, and is paused.
Task<void> pause_at_62(Live& live) {
  live.submit(1, {{"checkpoint", {{"uri", "gs://b/p"}}}});
  co_await live.clock.sleep_for(2s);
  live.run_all();
  co_await live.clock.sleep_for(5s);
  const std::string uid = live.server.find(kTrainingJobs, kLiveJob)["metadata"]["uid"];
  const std::string pod = live.server.find(kube::kPods, live.pod_key(1, 0))["metadata"]["uid"];
  api::Report report{.job = "research/train", .job_uid = uid, .attempt = 1, .sequence = 1};
  report.step = 64;
  report.checkpoint =
      api::ReportCheckpoint{.step = 62, .path = "gs://b/p", .manifest_digest = "sha256:62"};
  live.reports.note(report, pod, live.clock.monotonic());
  live.edit({{"suspend", true}});
  co_await live.clock.sleep_for(2s);
  report.sequence = 2;
  report.pause = {.state = api::ReportPauseState::kCommitted, .step = 62};
  live.reports.note(report, pod, live.clock.monotonic());
  co_await live.clock.sleep_for(2s);
  live.kubelets();
  co_await live.clock.sleep_for(5s);
  CHECK(live.phase() == "Paused");
  CHECK(live.reader.asked.size() == 1);  // whose place it is, before the first attempt
  live.reader.asked.clear();
}

bool has_pod(const Live& live) {
  return !live.server.find(kube::kPods, live.pod_key(2, 0)).is_null();
}
std::size_t writes(const Live& live) {  // events apart
  return live.server.count_writes("research") - live.server.count_writes("/events");
}

Task<void> resumes_from_a_sound_one(Live& live) {
  live.reader.answer = CheckpointFinding{.newest = step_62()};
  co_await pause_at_62(live);
  const std::size_t before = writes(live);
  live.edit({{"suspend", false}});
  co_await live.clock.sleep_for(900ms);
  CHECK_FALSE(has_pod(live));  // the look takes a second
  co_await live.clock.sleep_for(4s);
  CHECK(has_pod(live));
  REQUIRE(live.reader.asked.size() == 1);
  CHECK(live.reader.asked[0].uri == "gs://b/p");
  CHECK(live.reader.asked[0].attempt == 2);
  // The attempt, PodGroup, pod, and one status that also says it is verified.
  CHECK(writes(live) - before == 4);
  CHECK(live.status()["checkpoint"].contains("verifiedAt"));
}

TEST_CASE("A sound checkpoint is looked at once, and costs no write of its own") {
  Live live;
  live.run(resumes_from_a_sound_one(live));
}

Task<void> waits_for_repair(Live& live) {
  live.reader.answer = CheckpointFinding{.passed_over = {{.step = 62, .why = "checksum"}}};
  co_await pause_at_62(live);
  live.edit({{"suspend", false}});
  co_await live.clock.sleep_for(10min);
  CHECK_FALSE(has_pod(live));
  CHECK(live.server.list(kube::kPodGroups).empty());
  CHECK(live.status()["pending"]["reason"] == "CheckpointDamaged");
  CHECK(live.reader.asked.size() >= 4);
  CHECK(live.reader.asked.size() <= 6);
  live.reader.answer = CheckpointFinding{.newest = step_62()};
  co_await live.clock.sleep_for(5min);
  CHECK(has_pod(live));
}

TEST_CASE("Without a sound checkpoint nothing is asked for, until there is one") {
  Live live;
  live.run(waits_for_repair(live));
}

Task<void> store_is_silent(Live& live) {
  co_await pause_at_62(live);
  live.reader.takes = 10h;
  live.edit({{"suspend", false}});
  co_await live.clock.sleep_for(kLookMax + 5s);
  CHECK(has_pod(live));
  CHECK_FALSE(live.status()["checkpoint"].contains("verifiedAt"));
}

Task<void> place_is_taken(Live& live) {
  live.reader.answer = CheckpointFinding{.taken_by = "TrainingJob research/first"};
  live.submit(1, {{"checkpoint", {{"uri", "gs://b/p"}}}});
  co_await live.clock.sleep_for(5s);
  CHECK(live.server.list(kube::kPods).empty());
  CHECK(live.server.list(kube::kPodGroups).empty());
  CHECK(live.status()["pending"]["reason"] == "CheckpointTaken");
  live.reader.answer = CheckpointFinding{};
  co_await live.clock.sleep_for(5min);
  CHECK_FALSE(live.server.list(kube::kPods).empty());
}

TEST_CASE("A place of another job is refused before pods are made, until it is free", "[D4]") {
  Live live;
  live.run(place_is_taken(live));
}

TEST_CASE("A store that does not answer keeps a job waiting for a moment only") {
  Live live;
  live.run(store_is_silent(live));
}

}  // namespace
}  // namespace amdahl::training
