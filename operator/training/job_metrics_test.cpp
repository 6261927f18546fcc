#include "operator/training/job_metrics.hpp"

#include <catch2/catch.hpp>

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

}  // namespace
}  // namespace amdahl::training
