// Statuses that somebody else wrote: the CRD takes them, and they hurt their own job at most.
#include "operator/training/sound_status.hpp"
#include "operator/training/test_live.hpp"

namespace amdahl::training {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNow{std::chrono::sys_days{std::chrono::year{2026} / 11 / 19}};

// `mended` is what became of the status; then the job is cancelled.
Task<void> forge(Live& live, Json status, Json& mended) {
  live.submit(2, {{"deadlines", {{"active", "10000h"}, {"start", "10000h"}}}});
  co_await live.clock.sleep_for(3s);
  live.run_all();
  co_await live.clock.sleep_for(3s);
  REQUIRE(live.phase() == "Running");
  live.server.merge(kTrainingJobs, kLiveJob, {{"status", std::move(status)}}, "status");
  co_await live.clock.sleep_for(60s);
  mended = live.status();
  live.edit({{"cancel", true}});
  co_await live.clock.sleep_for(10s);
  live.kubelets();
  co_await live.clock.sleep_for(10s);
}

TEST_CASE("A forged status is mended, and its job runs on", "[A1]") {
  const char* const rows[] = {
      R"({"attempts": []})",
      R"({"attempts": null, "attempt": null})",
      R"({"attempt": 2})",
      R"({"attempt": 0})",
      R"({"attempt": 1000000000})",
      R"({"attempt": 2147483647, "attempts": [{"number": 2147483647}]})",
      R"({"attempts": [{"number": 3}, {"number": 1}]})",
      R"({"workers": null})",
      R"({"workers": {"desired": 0, "created": 0, "bound": 0, "running": 0, "ready": 0}})",
      R"({"attempts": [], "workers": {"desired": 3, "created": 0, "bound": 0, "running": 0, "ready": 0}})",
      R"({"elapsed": {"activeSeconds": 9007199254740991, "startSeconds": 9007199254740991,
                      "queueSeconds": 9007199254740991}})",
      R"({"conditions": [{"type": "Running", "status": "True", "reason": "x", "message": "",
                          "lastTransitionTime": "0001-01-01T00:00:00Z"}]})",
      R"({"conditions": [{"type": "Running", "status": "True", "reason": "x", "message": "",
                          "lastTransitionTime": "9999-12-31T23:59:59Z"}]})",
      R"({"attempts": [{"number": 1, "startedAt": "9999-12-31T23:59:59Z"}]})",
      R"({"attempts": [{"number": 1, "outcome": "Failed", "endedAt": "0001-01-01T00:00:00Z"},
                       {"number": 2}]})",
      R"({"pause": {"requestedAt": "9999-12-31T23:59:59Z"}})",
      R"({"progress": {"lastStepAt": "0001-01-01T00:00:00Z"}})",
  };
  for (const char* row : rows) {
    INFO(row);
    Live live;
    Json status;
    live.run(forge(live, Json::parse(row), status));
    INFO(status.dump());
    const Json& attempts = status["attempts"];
    REQUIRE(attempts.is_array());
    REQUIRE_FALSE(attempts.empty());
    CHECK(attempts.back()["number"] == status["attempt"]);
    CHECK(status["attempt"].get<std::int64_t>() < kAttemptNumberMax);
    // A status that the API server refuses would leave it as it is.
    CHECK(live.phase() != "Running");
  }
}

TEST_CASE("A status makes no more pods than the spec has nodes", "[A1]") {
  TrainingJob job;
  job.spec.nodes = 2;
  job.status.attempt = 1;
  job.status.attempts = {{.number = 1}};
  job.status.workers = api::WorkersStatus{.desired = 40, .created = 2};
  const auto mended = mended_status(job, kNow);
  REQUIRE(mended);
  CHECK(mended->workers->desired == 2);

  // Nodes were edited while it was to be suspended, and the attempt goes on as it began.
  job.status.workers->created = 40;
  CHECK_FALSE(mended_status(job, kNow));
  job.status.workers->created = 2;
  job.spec.suspend = true;
  CHECK_FALSE(mended_status(job, kNow));
}

TEST_CASE("Times that no policy can count with are taken out of a status", "[A1]") {
  const WallTime far{std::chrono::sys_days{std::chrono::year{9999} / 12 / 31}};
  const WallTime old{std::chrono::sys_days{std::chrono::year{1} / 1 / 1}};
  for (const WallTime time : {far, old}) {
    TrainingJob job;
    job.status.attempt = 2;
    job.status.workers = api::WorkersStatus{.desired = 1};
    job.status.attempts = {{.number = 1, .ended_at = time, .outcome = api::AttemptOutcome::kFailed},
                           {.number = 2}};
    job.status.pause = api::PauseStatus{.requested_at = time};
    job.status.conditions = {{.type = "Running", .changed = time}};
    const auto mended = mended_status(job, kNow);
    REQUIRE(mended);
    CHECK_FALSE(mended->attempts[0].ended_at);
    CHECK_FALSE(mended->pause);
    CHECK(mended->conditions[0].changed == kNow);  // the CRD demands a time
    job.status = *mended;
    CHECK_FALSE(mended_status(job, kNow));
  }
}

TEST_CASE("An account that nobody can have held is taken out of a status", "[A1]") {
  constexpr std::int64_t kMost = 9'007'199'254'740'991;
  TrainingJob job;
  job.status.attempt = 1;
  job.status.workers = api::WorkersStatus{.desired = 1};
  job.status.attempts = {{.number = 1, .held_gpu_seconds = kMost}};
  job.status.gpu_seconds = api::GpuSecondsStatus{
      .held = 5,
      .settled = api::SettledGpuSeconds{.attempt = 1, .phases = {{.name = "a", .seconds = kMost}}}};
  const auto mended = mended_status(job, kNow);
  REQUIRE(mended);
  CHECK_FALSE(mended->gpu_seconds);
  CHECK(mended->attempts[0].held_gpu_seconds == 0);
}

TEST_CASE("A status of ours needs no mending", "[A1]") {
  TrainingJob job;
  job.spec.nodes = 2;
  CHECK_FALSE(mended_status(job, kNow));
  job.status.attempt = 2;
  job.status.attempts = {{.number = 1, .outcome = api::AttemptOutcome::kFailed}, {.number = 2}};
  job.status.workers = api::WorkersStatus{.desired = 2};
  CHECK_FALSE(mended_status(job, kNow));
  job.status.attempts.back().outcome = api::AttemptOutcome::kPaused;
  job.status.workers.reset();
  CHECK_FALSE(mended_status(job, kNow));
}

}  // namespace
}  // namespace amdahl::training
