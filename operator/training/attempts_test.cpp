#include "operator/training/attempts.hpp"

#include <catch2/catch.hpp>

#include "operator/api/names.hpp"
#include "operator/api/phase.hpp"
#include "operator/training/test_world.hpp"

namespace amdahl::training {
namespace {

using namespace std::chrono_literals;

TEST_CASE("What a checkpoint engine reports stands in the status") {
  World world;
  world.edit().spec.checkpoint.uri = "gs://bucket/prefix";
  world.reach(api::Phase::kRunning);
  world.report(0).checkpoint = api::ReportCheckpoint{.step = 7,
                                                     .path = "gs://bucket/prefix",
                                                     .bytes = 1024,
                                                     .manifest_digest = "sha256:ab",
                                                     .stall_seconds = 0.12345,
                                                     .predicted_pause_seconds = 4.0,
                                                     .failed_saves = 1,
                                                     .orphans_collected = 3};
  world.now += 1min;
  world.settle();
  const auto checkpoint = world.job->status.checkpoint.value();
  CHECK(checkpoint.last_committed->step == 7);
  CHECK(checkpoint.last_committed->manifest_digest == "sha256:ab");
  CHECK(checkpoint.stall_seconds == 0.123);
  CHECK_FALSE(checkpoint.upload_lag_seconds);
  CHECK(checkpoint.predicted_pause_seconds == 4.0);
  CHECK(checkpoint.failed_saves == 1);
  CHECK(checkpoint.orphans_collected == 3);
  // Counters of a rank that began anew do not go back, and an older step is no news.
  world.report(0).checkpoint = api::ReportCheckpoint{.step = 6, .stall_seconds = 0.2};
  world.now += 1min;
  world.settle();
  CHECK(world.job->status.checkpoint->last_committed->step == 7);
  CHECK(world.job->status.checkpoint->stall_seconds == 0.2);
  CHECK(world.job->status.checkpoint->failed_saves == 1);
  CHECK(world.broken == std::vector<std::string>{});
}

TEST_CASE("Progress comes from the lowest rank that counts steps", "[D8]") {
  World world;
  world.edit().spec.nodes = 3;
  world.reach(api::Phase::kRunning);
  world.report(0).metrics = {{.name = "loss", .value = "of rank 0"}};
  for (const std::uint32_t rank : {2U, 1U}) {
    api::Report& report = world.report(rank);
    report.step = 10 * rank;
    report.total_steps = 100;
    report.step_seconds = 2;
    report.step_source = api::StepSource::kLog;
    report.metrics = {{.name = "loss", .value = fmt::format("of rank {}", rank)}};
  }
  world.now += 1min;
  world.settle();
  const auto progress = [&] { return world.job->status.progress.value(); };
  CHECK(progress().step == 10);
  CHECK(progress().total_steps == 100);
  CHECK(progress().step_seconds == 2);
  CHECK(progress().eta_seconds == 180);
  CHECK(progress().source == api::StepSource::kLog);
  CHECK(progress().last_step_at);
  CHECK(progress().metrics.at(0).value == "of rank 1");
  CHECK(world.job->status.attempts.back().last_step == 10);
  CHECK(steps_at_risk(world.job->status, world.job->spec) == 10);
  world.report(0).step = 12;
  world.now += 1min;
  world.settle();
  CHECK(progress().step == 12);
  CHECK(progress().metrics.at(0).value == "of rank 0");
  CHECK(world.broken == std::vector<std::string>{});
}

TEST_CASE("Progress comes from hooks only while no rank tells of steps", "[D8]") {
  World world;
  world.edit().spec.nodes = 2;
  world.reach(api::Phase::kRunning);
  const auto says = [&](std::uint32_t rank, std::int64_t step, api::StepSource source) {
    world.report(rank).step = step;
    world.report(rank).step_source = source;
    world.now += 1min;
    world.settle();
  };
  says(0, 700, api::StepSource::kHook);
  says(1, 700, api::StepSource::kHook);
  const auto progress = [&] { return world.job->status.progress.value(); };
  CHECK(progress().step == 700);
  CHECK(progress().source == api::StepSource::kHook);
  CHECK(world.job->status.attempts.back().last_step == 700);
  says(1, 70, api::StepSource::kFramework);
  CHECK(progress().step == 70);
  CHECK(progress().source == api::StepSource::kFramework);
  CHECK(world.job->status.attempts.back().last_step == 70);
  says(0, 900, api::StepSource::kHook);
  CHECK(progress().step == 70);
  CHECK(world.job->status.attempts.back().last_step == 70);
  CHECK(world.broken == std::vector<std::string>{});
}

TEST_CASE("Progress is unknown while no rank counts steps", "[D8]") {
  World world;
  world.reach(api::Phase::kRunning);
  world.report(1).phase = api::ReportPhase::kUnattributed;
  world.now += 1min;
  world.settle();
  REQUIRE(world.job->status.progress);
  CHECK(world.job->status.progress->source == api::StepSource::kUnknown);
  CHECK_FALSE(world.job->status.progress->step);
}

TEST_CASE("A pod that only claims a rank does not take its place", "[A2]") {
  World world;
  world.reach(api::Phase::kRunning);
  GangPod forged = *world.pod(0);  // labels and owner too
  forged.metadata.name = "0-forged";
  forged.metadata.uid = "forged";
  world.end(forged, kube::PodPhase::kFailed, 1, "Error");
  REQUIRE(forged.metadata.name.str() < world.pod(0)->metadata.name.str());
  world.pods.emplace("0-forged", forged);
  world.report(0).step = 7;
  for (int i = 0; i < 3; ++i) {
    world.now += 1min;
    world.settle();
  }
  CHECK(api::summarize(world.job->status).phase == api::Phase::kRunning);
  CHECK(world.job->status.restarts == 0);
  CHECK(world.job->status.attempts.back().last_step == 7);
  world.end(*world.pod(0), kube::PodPhase::kFailed, 1, "Error");
  world.settle();
  CHECK(world.job->status.attempts.front().cause->pod == "train-1-0");
  CHECK(world.broken == std::vector<std::string>{});
}

TEST_CASE("GPU-seconds of pods that only claim to be of the job are not counted", "[A2]") {
  struct Held {
    std::int64_t running = 0;
    std::int64_t ended = 0;
  };
  const auto held_with = [](const std::vector<std::string>& names, const char* rank) {
    World world;
    world.reach(api::Phase::kRunning);
    for (const std::string& name : names) {
      GangPod forged = *world.pod(0);  // owner too
      forged.metadata.name = name;
      forged.metadata.uid = name;
      PackedMap::Builder labels;
      labels.add(world.pod(0)->metadata.labels);
      labels.add(api::label::kRank, rank);
      forged.metadata.labels = labels.build();
      world.pods.emplace(name, forged);
    }
    Held held;
    world.report(0).step = 7;
    world.now += 1min;
    world.settle();
    held.running = world.job->status.attempts.back().held_gpu_seconds;
    world.end(*world.pod(0), kube::PodPhase::kFailed, 1, "Error");
    world.settle();
    held.ended = world.job->status.attempts.front().held_gpu_seconds;
    CHECK(world.broken == std::vector<std::string>{});
    return held;
  };
  const Held alone = held_with({}, "0");
  CHECK(alone.running > 0);
  CHECK(alone.ended > 0);
  const Held forged = held_with({"0-forged", "train-1-0-0", "train-01-0"}, "0");
  CHECK(forged.running == alone.running);
  CHECK(forged.ended == alone.ended);
  CHECK(held_with({"train-1-7"}, "7").running == alone.running);  // a rank that the job lacks
}

TEST_CASE("A pod that only claims the next attempt does not keep a job paused", "[A2]") {
  World world;
  world.edit().spec.checkpoint.uri = "gs://b/p";
  world.in_store = CheckpointFinding{};
  world.reach(api::Phase::kRunning);
  GangPod forged = *world.pod(0);  // owner too
  forged.metadata.name = "train-2-99";
  forged.metadata.uid = "forged";
  PackedMap::Builder labels;
  labels.add(forged.metadata.labels);
  labels.add(api::label::kAttempt, "2");
  labels.add(api::label::kRank, "99");
  forged.metadata.labels = labels.build();
  world.edit().spec.checkpoint.pause.policy = api::PausePolicy::kBestEffort;
  world.edit().spec.suspend = true;
  for (int i = 0; i < 3; ++i) {
    world.now += 5min;
    world.settle();
    world.kubelets();
  }
  world.settle();
  REQUIRE(api::summarize(world.job->status).phase == api::Phase::kPaused);
  world.pods.emplace("train-2-99", forged);
  world.edit().spec.suspend = false;
  world.settle();
  CHECK(world.job->status.attempt == 2);
}

TEST_CASE("A rank that stands still while others wait is named within a minute", "[D3]") {
  const double step_seconds = GENERATE(0.0, 1.0, 6.0, 30.0);
  CAPTURE(step_seconds);
  World world;
  world.edit().spec.nodes = 3;
  world.reach(api::Phase::kRunning);
  const auto tells = [&](std::uint32_t rank, std::int64_t step, api::ReportPhase phase) {
    api::Report& report = world.report(rank);
    report.step = step;
    report.step_seconds = step_seconds;
    report.phase = phase;
    world.reports.at(report.pod_uid).step_changed = world.now;
  };
  tells(0, 12, api::ReportPhase::kCheckpointSave);
  tells(1, 12, api::ReportPhase::kTrain);
  tells(2, 9, api::ReportPhase::kTrain);
  world.settle();
  CHECK_FALSE(world.job->status.pending);
  world.now += 1min;
  world.settle();
  REQUIRE(world.job->status.pending);
  CHECK(world.job->status.pending->reason == "NoStep");
  const std::string& words = world.job->status.pending->message;
  INFO(words);
  CHECK(
      words.contains("rank 2 stands still at step 9, ranks 0-1 are at step 12; ranks 1-2 are in "
                     "phase Train, rank 0 is in phase CheckpointSave."));
}

TEST_CASE("A report of absurd figures has an ETA that the CRD takes", "[A1]") {
  World world;
  world.reach(api::Phase::kRunning);
  world.report(0).step = 5;
  world.report(0).total_steps = api::kIntegerMax;
  world.report(0).step_seconds = 3'153'600'000.0;
  world.now += 1min;
  world.settle();
  CHECK(world.job->status.progress->eta_seconds == api::kIntegerMax);
}

TEST_CASE("A pod that the API server finds too large ends its job, a bound of ours does not",
          "[A1]") {
  const auto refusal = [](const char* words) {
    return refusal_of({.code = Errc::kTooLarge, .context = words});
  };
  REQUIRE(refusal("create pods a/b: Request entity too large: limit is 3145728"));
  CHECK(refusal("create pods a/b: Request entity too large: limit is 3145728")->kind ==
        CreateRefusalKind::kInvalid);
  CHECK_FALSE(refusal("create pods a/b: the body is over the limit of 8388608 bytes"));
}

TEST_CASE("A checkpoint proves the steps of a trainer that counts none", "[B2]") {
  World world;
  world.edit().spec.checkpoint.uri = "gs://bucket/prefix";
  world.reach(api::Phase::kRunning);
  world.report(0).checkpoint = api::ReportCheckpoint{.step = 7, .path = "p"};
  world.now += 1min;
  world.settle();
  CHECK(world.job->status.attempts.back().first_step == 7);
  CHECK(world.job->status.attempts.back().last_step == 7);
  CHECK_FALSE(world.job->status.progress->step);  // nobody has counted
}

TEST_CASE("A save that failed is in the status with the newest reason of any rank", "[D2]") {
  World world;
  world.edit().spec.checkpoint.uri = "gs://bucket/prefix";
  world.edit().spec.nodes = 2;
  world.reach(api::Phase::kRunning);
  world.report(0).failed_saves =
      api::ReportFailedSaves{.count = 3, .message = "older", .at = world.now};
  world.report(1).failed_saves =
      api::ReportFailedSaves{.count = 2, .message = "newer", .at = world.now + 5s};
  world.now += 1min;
  world.settle();
  const auto& checkpoint = world.job->status.checkpoint.value();
  CHECK(checkpoint.failed_saves == 3);
  CHECK(checkpoint.last_failed_save.value().message == "newer");
  CHECK_FALSE(checkpoint.last_committed);
  CHECK(world.broken == std::vector<std::string>{});
}

}  // namespace
}  // namespace amdahl::training
