// Metrics about TrainingJobs, worked out from their statuses when somebody scrapes.
//
// Two tiers. Of the fleet, by namespace and queue: how many jobs, GPU-seconds, failures, pauses. Of
// each job that has not ended: GPU-seconds, progress, restarts, checkpoints; such a series goes
// with its job, and jobs over kMetricJobsMax share one named "_other". Nothing else that users
// write becomes a label. Thread: one. Lifetime: registry and store outlive it, and it outlives
// their use: the store calls it, and every scrape does. Failure: none.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/metrics.hpp"
#include "operator/controller/store.hpp"
#include "operator/training/phase_metrics.hpp"
#include "operator/training/types.hpp"

namespace amdahl::training {

inline constexpr std::size_t kMetricJobsMax = 2'000;
inline constexpr std::size_t kMetricPlacesMax = 1'000;  // namespaces times queues

using JobList = std::vector<JobPtr>;
// The series of single jobs; pure. Each is one metric of docs/reference/metrics.md.
struct JobSeries {
  std::vector<Sample> gpu_seconds = {};
  std::vector<Sample> waste_ratio = {};
  std::vector<Sample> step = {};
  std::vector<Sample> progress_ratio = {};
  std::vector<Sample> step_seconds = {};
  std::vector<Sample> restarts = {};
  std::vector<Sample> checkpoint_step = {};
  std::vector<Sample> checkpoint_time = {};
  std::vector<Sample> checkpoint_stall = {};
  std::vector<Sample> checkpoint_lag = {};
  std::vector<Sample> checkpoint_interval = {};
  std::vector<Sample> failed_saves = {};
  std::size_t folded = 0;  // jobs that are in "_other"
};
JobSeries job_series(const JobList& jobs, std::size_t jobs_max = kMetricJobsMax);
std::vector<Sample> jobs_by_phase(const JobList& jobs);

class JobMetrics {
 public:
  JobMetrics(MetricsRegistry& registry, controller::Store<TrainingJob>& jobs, Clock& clock);
  JobMetrics(const JobMetrics&) = delete;
  JobMetrics& operator=(const JobMetrics&) = delete;

 private:
  // What of a job has been counted already.
  struct Counted {
    std::map<std::string, std::int64_t> gpu_seconds = {};  // by state
    std::int32_t attempts_ended = 0;                       // the number of the last one
    std::int64_t pause_generation = 0;
  };
  using Place = std::pair<std::string, std::string>;  // namespace and queue
  struct Total {
    std::int64_t sum = 0;    // may fall when seconds are attributed to something else later
    std::int64_t shown = 0;  // never does
  };

  void register_series(MetricsRegistry& registry);
  void register_checkpoints(MetricsRegistry& registry);
  void changed(const controller::Change& change);
  void count(const TrainingJob& job);
  void count_gpu_seconds(const TrainingJob& job, Counted& counted, bool known);
  void count_failures(const TrainingJob& job, Counted& counted, bool known);
  void count_pause(const TrainingJob& job, Counted& counted, bool known);
  Place place_of(const TrainingJob& job);
  JobList all() const;
  std::vector<Sample> fleet_gpu_seconds() const;

  controller::Store<TrainingJob>& jobs_;
  Clock& clock_;
  PhaseMetrics phase_metrics_;
  JobSeries series_;                                            // of the rendering that goes on
  std::map<std::string, Counted, std::less<>> counted_;         // by UID, of jobs that exist
  std::map<std::pair<Place, std::string>, Total> gpu_seconds_;  // by state
  std::set<Place> places_;
  CounterFamily<api::CauseClass, api::CauseDomain> failures_;
  HistogramFamily<api::PauseOutcome> pauses_;
};

}  // namespace amdahl::training
