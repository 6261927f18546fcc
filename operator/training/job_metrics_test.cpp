#include "operator/training/job_metrics.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace amdahl::training {
namespace {

std::shared_ptr<TrainingJob> a_job(const std::string& name, api::Phase phase, std::int64_t gpu) {
  auto job = std::make_shared<TrainingJob>();
  job->metadata.ns = "research";
  job->metadata.name = name;
  job->metadata.uid = "uid-" + name;
  job->status.phase = phase;
  job->status.restarts = 2;
  job->status.progress = api::ProgressStatus{.step = 70, .percent = 35, .step_seconds = 0.5};
  job->status.gpu_seconds =
      api::GpuSecondsStatus{.held = gpu,
                            .phases = {{.name = "init", .seconds = gpu / 4},
                                       {.name = "productive", .seconds = gpu - gpu / 4}}};
  return job;
}

double value_of(const std::vector<Sample>& samples, std::string_view job) {
  for (const Sample& sample : samples)
    if (sample.labels.at(1).second == job) return sample.value;
  return -1;
}

TEST_CASE("Series of jobs: those that go on have their own, ended ones have none") {
  const JobSeries series =
      job_series({a_job("a", api::Phase::kRunning, 400), a_job("b", api::Phase::kSucceeded, 100),
                  a_job("c", api::Phase::kPaused, 0)});
  CHECK(series.step.size() == 2);
  CHECK(value_of(series.step, "a") == 70);
  CHECK(value_of(series.step, "b") == -1);
  CHECK(value_of(series.progress_ratio, "a") == Approx(0.35));
  CHECK(value_of(series.restarts, "a") == 2);
  CHECK(value_of(series.waste_ratio, "a") == Approx(0.25));
  CHECK(value_of(series.waste_ratio, "c") == -1);  // nothing was held, so nothing was wasted
  CHECK(series.folded == 0);
}

TEST_CASE("Series of jobs: checkpoints, as far as something is known of them") {
  const auto job = a_job("a", api::Phase::kRunning, 0);
  job->status.checkpoint = api::CheckpointStatus{.failed_saves = 3, .interval_seconds = 416};
  JobSeries series = job_series({job, a_job("b", api::Phase::kRunning, 0)});
  CHECK(value_of(series.failed_saves, "a") == 3);
  CHECK(value_of(series.checkpoint_interval, "a") == 416);
  CHECK(value_of(series.failed_saves, "b") == -1);
  CHECK(series.checkpoint_step.empty());
  CHECK(series.checkpoint_stall.empty());
  job->status.checkpoint->last_committed = api::CommittedCheckpoint{
      .step = 62, .committed_at = WallTime(std::chrono::seconds{1'700'000'000})};
  job->status.checkpoint->stall_seconds = 0.25;
  job->status.checkpoint->upload_lag_seconds = 4;
  series = job_series({job});
  CHECK(value_of(series.checkpoint_step, "a") == 62);
  CHECK(value_of(series.checkpoint_time, "a") == 1.7e9);
  CHECK(value_of(series.checkpoint_stall, "a") == 0.25);
  CHECK(value_of(series.checkpoint_lag, "a") == 4);
  job->status.phase = api::Phase::kSucceeded;
  CHECK(job_series({job}).checkpoint_step.empty());
}

TEST_CASE("Series of jobs: what is over the bound is added up under one name") {
  JobList jobs;
  for (int i = 0; i < 5; ++i)
    jobs.push_back(a_job("j" + std::to_string(i), api::Phase::kRunning, 8));
  const JobSeries series = job_series(jobs, 3);
  CHECK(series.folded == 2);
  CHECK(series.step.size() == 3);
  CHECK(value_of(series.restarts, "_other") == 4);
  double all = 0;
  for (const Sample& sample : series.gpu_seconds) all += sample.value;
  CHECK(all == 40);
}

TEST_CASE("Series of jobs: how many are in which phase") {
  const auto counts =
      jobs_by_phase({a_job("a", api::Phase::kRunning, 0), a_job("b", api::Phase::kRunning, 0),
                     a_job("c", api::Phase::kFailed, 0)});
  REQUIRE(counts.size() == 2);
  CHECK(counts[1].labels == LabelPairs{{"namespace", "research"}, {"phase", "Running"}});
  CHECK(counts[1].value == 2);
}

// The metrics of a cache that is fed by hand.
struct Counted {
  MetricsRegistry registry;
  controller::Store<TrainingJob> jobs;
  ManualClock clock;
  JobMetrics metrics{registry, jobs, clock};
  int version = 1;

  Counted() {
    jobs.begin_stage();
    jobs.publish("1");
  }
  void sees(const std::string& name, Json status, kube::EventKind kind = kube::EventKind::kAdded) {
    const std::string text = Json{
        {"metadata",
         {{"name", name},
          {"namespace", "research"},
          {"uid", "uid-" + name},
          {"resourceVersion", std::to_string(++version)}}},
        {"spec",
         {{"runtime", "Torchrun"},
          {"nodes", 1},
          {"template", {{"spec", Json::object()}}},
          {"scheduling", {{"queue", "gold"}}}}},
        {"status",
         std::move(status)}}.dump();
    const std::string padded = text + std::string(kJsonPadding, ' ');
    const auto decoded = jobs.decode({.bytes = std::string_view(padded).substr(0, text.size())});
    if (!decoded) FAIL(decoded.error().context);
    jobs.apply(kind);
  }
  // Of the one series whose line begins so; -1: there is none.
  double value(const std::string& series) const {
    const std::string text = "\n" + registry.render();
    const auto at = text.find("\n" + series + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size() + 2));
  }
};

Json held(std::int64_t productive, std::int64_t unattributed) {
  return {{"phase", "Running"},
          {"gpuSeconds",
           {{"held", productive + unattributed},
            {"phases",
             {{{"name", "productive"}, {"seconds", productive}},
              {{"name", "unattributed"}, {"seconds", unattributed}}}}}}};
}

TEST_CASE("GPU-seconds of the fleet grow with every status and never fall") {
  Counted fleet;
  const std::string series =
      R"(amdahl_gpu_seconds_total{namespace="research",queue="gold",state=")";
  fleet.sees("a", Json::object());
  fleet.sees("a", held(10, 30));
  fleet.sees("a", held(25, 20));  // some of it was attributed later
  CHECK(fleet.value(series + "productive\"}") == 25);
  CHECK(fleet.value(series + "unattributed\"}") == 30);
  fleet.sees("b", held(100, 0));  // met half-way: only what follows counts
  fleet.sees("b", held(107, 0));
  CHECK(fleet.value(series + "productive\"}") == 32);
  fleet.sees("a", held(25, 20), kube::EventKind::kDeleted);
  CHECK(fleet.value(series + "productive\"}") == 32);
}

TEST_CASE("A status that somebody made up opens no series and overflows none", "[A8]") {
  Counted fleet;
  constexpr std::int64_t kMost = 9'007'199'254'740'991;
  for (int i = 0; i < 1'100; ++i) {
    const std::string name = fmt::format("j{}", i);
    fleet.sees(name, Json::object());
    Json status = held(kMost, 0);
    status["gpuSeconds"]["phases"].push_back({{"name", "made-up"}, {"seconds", 1}});
    fleet.sees(name, status);
    fleet.sees(name, status, kube::EventKind::kDeleted);
  }
  CHECK(fleet.registry.render().find("made-up") == std::string::npos);
}

TEST_CASE("A pause that ended before it began is not measured", "[A1]") {
  Counted fleet;
  fleet.sees("a", {{"phase", "Running"}});
  fleet.sees("a", {{"phase", "Running"},
                   {"pause",
                    {{"generation", 9},
                     {"outcome", "Committed"},
                     {"requestedAt", "9999-12-31T23:59:59Z"},
                     {"recordedAt", "0001-01-01T00:00:00Z"}}}});
  const std::string sum = R"(amdahl_pause_latency_seconds_sum{outcome="Committed"} -)";
  CHECK(fleet.registry.render().find(sum) == std::string::npos);
}

TEST_CASE("A failed attempt and a pause are counted once, however often their status is seen") {
  Counted fleet;
  const Json cause{{"class", "ContainerOutOfMemory"}, {"domain", "Workload"}};
  Json status{
      {"phase", "Restarting"},
      {"attempts", {{{"number", 1}, {"endedAt", "2026-01-02T03:04:05Z"}, {"cause", cause}}}}};
  const std::string failures =
      R"(amdahl_failures_total{cause="ContainerOutOfMemory",domain="Workload"})";
  fleet.sees("a", Json::object());
  fleet.sees("a", status);
  fleet.sees("a", status);
  CHECK(fleet.value(failures) == 1);
  status["attempts"].push_back(
      {{"number", 2}, {"endedAt", "2026-01-02T03:05:05Z"}, {"cause", cause}});
  status["pause"] = {{"generation", 3},
                     {"outcome", "Committed"},
                     {"requestedAt", "2026-01-02T03:04:00Z"},
                     {"recordedAt", "2026-01-02T03:04:07Z"}};
  fleet.sees("a", status);
  fleet.sees("a", status);
  CHECK(fleet.value(failures) == 2);
  const std::string pauses = "amdahl_pause_latency_seconds_";
  CHECK(fleet.value(pauses + R"(count{outcome="Committed"})") == 1);
  CHECK(fleet.value(pauses + R"(sum{outcome="Committed"})") == 7);
  fleet.sees("old", status);  // what happened before this process came is not its to count
  CHECK(fleet.value(failures) == 2);
}

}  // namespace
}  // namespace amdahl::training
