#include "operator/training/job_metrics.hpp"

#include <algorithm>
#include <tuple>

#include "operator/waste/phases.hpp"

namespace amdahl::training {
namespace {

constexpr std::string_view kOther = "_other";
constexpr std::string_view kProductive = "productive";
constexpr std::chrono::hours kPauseTimeMax{24 * 366};

bool has_ended(const api::TrainingJobStatus& status) {
  return status.phase == api::Phase::kSucceeded || status.phase == api::Phase::kFailed ||
         status.phase == api::Phase::kCancelled;
}

LabelPairs labels_of(const TrainingJob& job) {
  return {{"namespace", std::string(job.metadata.ns)},
          {"training_job", std::string(job.metadata.name)}};
}

LabelPairs with(LabelPairs labels, std::string name, std::string_view value) {
  labels.emplace_back(std::move(name), value);
  return labels;
}

// How much of what was held was not spent on steps that count; none before anything was held.
std::optional<double> waste_of(const api::GpuSecondsStatus& account) {
  if (account.held <= 0) return std::nullopt;
  std::int64_t productive = 0;
  for (const api::PhaseSeconds& phase : account.phases)
    if (phase.name == kProductive) productive += phase.seconds;
  return 1 - static_cast<double>(productive) / static_cast<double>(account.held);
}

void add_progress(const LabelPairs& labels, const api::ProgressStatus& progress,
                  JobSeries& series) {
  if (progress.step)
    series.step.push_back({.labels = labels, .value = static_cast<double>(*progress.step)});
  if (progress.percent)
    series.progress_ratio.push_back({.labels = labels, .value = *progress.percent / 100.0});
  if (progress.step_seconds)
    series.step_seconds.push_back({.labels = labels, .value = *progress.step_seconds});
}

void add_checkpoint(const LabelPairs& labels, const api::CheckpointStatus& checkpoint,
                    JobSeries& series) {
  const auto add = [&](std::vector<Sample>& into, const auto& value) {
    if (value) into.push_back({.labels = labels, .value = static_cast<double>(*value)});
  };
  add(series.checkpoint_stall, checkpoint.stall_seconds);
  add(series.checkpoint_lag, checkpoint.upload_lag_seconds);
  add(series.checkpoint_interval, checkpoint.interval_seconds);
  series.failed_saves.push_back(
      {.labels = labels, .value = static_cast<double>(checkpoint.failed_saves)});
  if (!checkpoint.last_committed) return;
  add(series.checkpoint_step, std::optional(checkpoint.last_committed->step));
  if (const auto& when = checkpoint.last_committed->committed_at)
    add(series.checkpoint_time,
        std::optional(std::chrono::duration<double>(when->time_since_epoch()).count()));
}

void add_job(const TrainingJob& job, JobSeries& series) {
  const LabelPairs labels = labels_of(job);
  const api::TrainingJobStatus& status = job.status;
  series.restarts.push_back(
      {.labels = labels, .value = static_cast<double>(status.restarts.value_or(0))});
  if (status.progress) add_progress(labels, *status.progress, series);
  if (status.checkpoint) add_checkpoint(labels, *status.checkpoint, series);
  if (!status.gpu_seconds) return;
  for (const api::PhaseSeconds& phase : status.gpu_seconds->phases)
    series.gpu_seconds.push_back(
        {.labels = with(labels, "state", phase.name), .value = static_cast<double>(phase.seconds)});
  if (const auto waste = waste_of(*status.gpu_seconds))
    series.waste_ratio.push_back({.labels = labels, .value = *waste});
}

// Only what can be added up is shown of jobs that are folded into one.
void add_folded(const JobList& jobs, JobSeries& series) {
  series.folded = jobs.size();
  if (jobs.empty()) return;
  const LabelPairs labels{{"namespace", std::string(kOther)},
                          {"training_job", std::string(kOther)}};
  double restarts = 0;
  std::map<std::string, double> seconds;
  for (const JobPtr& job : jobs) {
    restarts += job->status.restarts.value_or(0);
    if (!job->status.gpu_seconds) continue;
    for (const api::PhaseSeconds& phase : job->status.gpu_seconds->phases)
      seconds[phase.name] += static_cast<double>(phase.seconds);
  }
  series.restarts.push_back({.labels = labels, .value = restarts});
  for (const auto& [state, value] : seconds)
    series.gpu_seconds.push_back({.labels = with(labels, "state", state), .value = value});
}

}  // namespace

JobSeries job_series(const JobList& jobs, std::size_t jobs_max) {
  JobList living;
  for (const JobPtr& job : jobs)
    if (!has_ended(job->status)) living.push_back(job);
  // The oldest keep their series, so that a crowd of new jobs does not take them away.
  std::ranges::sort(living, {}, [](const JobPtr& job) {
    return std::tuple(job->metadata.created, job->metadata.uid);
  });
  JobSeries series;
  const std::size_t shown = std::min(jobs_max, living.size());
  for (std::size_t i = 0; i < shown; ++i) add_job(*living[i], series);
  add_folded({living.begin() + static_cast<std::ptrdiff_t>(shown), living.end()}, series);
  return series;
}

std::vector<Sample> jobs_by_phase(const JobList& jobs) {
  std::map<std::pair<std::string, std::string>, double> counts;
  for (const JobPtr& job : jobs) {
    std::string ns(job->metadata.ns);
    const std::string phase(enum_name(job->status.phase));
    if (counts.size() >= kMetricPlacesMax && !counts.contains({ns, phase})) ns = kOther;
    counts[{ns, phase}] += 1;
  }
  std::vector<Sample> samples;
  samples.reserve(counts.size());
  for (const auto& [where, count] : counts)
    samples.push_back(
        {.labels = {{"namespace", where.first}, {"phase", where.second}}, .value = count});
  return samples;
}

JobMetrics::JobMetrics(MetricsRegistry& registry, controller::Store<TrainingJob>& jobs,
                       Clock& clock)
    : jobs_(jobs),
      clock_(clock),
      phase_metrics_(registry),
      failures_(registry.counter_family<api::CauseClass, api::CauseDomain>(
          {"amdahl_failures_total", "Attempts that ended for a cause, by cause.", {}},
          {"cause", "domain"})),
      pauses_(registry.histogram_family<api::PauseOutcome>(
          {"amdahl_pause_latency_seconds", "From the wish for a pause to its outcome.", {}},
          {"outcome"}, {1, 5, 10, 30, 60, 120, 300, 600, 1800})) {
  register_series(registry);
  jobs.subscribe([this](const controller::Change& change) { changed(change); });
}

void JobMetrics::register_series(MetricsRegistry& registry) {
  registry.gauges_at_render({"amdahl_training_jobs", "TrainingJobs, by phase.", {}},
                            [this] { return jobs_by_phase(all()); });
  registry.counters_at_render(
      {"amdahl_gpu_seconds_total", "GPU-seconds held by TrainingJobs, by what for.", {}},
      [this] { return fleet_gpu_seconds(); });
  registry.before_render([this] { series_ = job_series(all()); });
  const auto of_jobs = [this](std::vector<Sample> JobSeries::* member) {
    return [this, member] { return std::move(series_.*member); };
  };
  registry.counters_at_render({"amdahl_training_job_gpu_seconds_total",
                               "GPU-seconds held by a TrainingJob, by what for.",
                               {}},
                              of_jobs(&JobSeries::gpu_seconds));
  registry.counters_at_render({"amdahl_training_job_restarts_total",
                               "Times the gang was started again after a failure.",
                               {}},
                              of_jobs(&JobSeries::restarts));
  registry.gauges_at_render({"amdahl_training_job_waste_ratio",
                             "Share of the GPU-seconds held that no kept step was made in.",
                             {}},
                            of_jobs(&JobSeries::waste_ratio));
  registry.gauges_at_render({"amdahl_training_job_step", "The last step that was reported.", {}},
                            of_jobs(&JobSeries::step));
  registry.gauges_at_render({"amdahl_training_job_progress_ratio", "How much is done.", {}},
                            of_jobs(&JobSeries::progress_ratio));
  registry.gauges_at_render(
      {"amdahl_training_job_step_seconds", "How long a step takes at present.", {}},
      of_jobs(&JobSeries::step_seconds));
  register_checkpoints(registry);
  registry.gauges_at_render(
      {"amdahl_metrics_folded_jobs", "TrainingJobs without series of their own.", {}},
      [this] { return std::vector<Sample>{{.value = static_cast<double>(series_.folded)}}; });
}

void JobMetrics::register_checkpoints(MetricsRegistry& registry) {
  const auto of_jobs = [this](std::vector<Sample> JobSeries::* member) {
    return [this, member] { return std::move(series_.*member); };
  };
  const auto gauge = [&](const char* name, const char* help,
                         std::vector<Sample> JobSeries::* member) {
    registry.gauges_at_render({name, help, {}}, of_jobs(member));
  };
  gauge("amdahl_training_job_checkpoint_step", "The step of the newest committed checkpoint.",
        &JobSeries::checkpoint_step);
  gauge("amdahl_training_job_checkpoint_timestamp_seconds", "When it was committed, in Unix time.",
        &JobSeries::checkpoint_time);
  gauge("amdahl_training_job_checkpoint_stall_seconds",
        "How long training stands still for a checkpoint.", &JobSeries::checkpoint_stall);
  gauge("amdahl_training_job_checkpoint_lag_seconds",
        "How long after that it is complete in the store.", &JobSeries::checkpoint_lag);
  gauge("amdahl_training_job_checkpoint_interval_seconds", "How often the trainer shall save.",
        &JobSeries::checkpoint_interval);
  registry.counters_at_render(
      {"amdahl_training_job_failed_saves_total", "Checkpoints that could not be written.", {}},
      of_jobs(&JobSeries::failed_saves));
}

JobList JobMetrics::all() const {
  JobList jobs;
  jobs_.for_each([&jobs](const JobPtr& job) { jobs.push_back(job); });
  return jobs;
}

void JobMetrics::changed(const controller::Change& change) {
  if (change.type == controller::ChangeType::kDeleted) {
    counted_.erase(change.uid);
    phase_metrics_.forget(change.uid);
    return;
  }
  if (const JobPtr job = jobs_.find(change.key)) count(*job);
}

// Of a job that this process meets half-way, only what happens from now on is counted.
void JobMetrics::count(const TrainingJob& job) {
  const auto [entry, fresh] = counted_.try_emplace(std::string(job.metadata.uid));
  const bool known = !fresh || job.status.phase == api::Phase::kUnknown;
  count_gpu_seconds(job, entry->second, known);
  count_failures(job, entry->second, known);
  count_pause(job, entry->second, known);
  phase_metrics_.note(job, clock_.monotonic());
}

void JobMetrics::count_gpu_seconds(const TrainingJob& job, Counted& counted, bool known) {
  if (!job.status.gpu_seconds) return;
  const Place place = place_of(job);
  for (const api::PhaseSeconds& phase : job.status.gpu_seconds->phases) {
    if (!parse_enum<waste::Phase>(phase.name)) continue;  // anybody may write a status
    std::int64_t& before = counted.gpu_seconds[phase.name];
    if (known) {
      Total& total = gpu_seconds_[{place, phase.name}];
      std::int64_t sum = 0;
      if (!__builtin_add_overflow(total.sum, phase.seconds - before, &sum)) total.sum = sum;
      total.shown = std::max(total.shown, total.sum);
    }
    before = phase.seconds;
  }
}

void JobMetrics::count_failures(const TrainingJob& job, Counted& counted, bool known) {
  for (const api::AttemptStatus& attempt : job.status.attempts) {
    if (!attempt.ended_at || attempt.number <= counted.attempts_ended) continue;
    counted.attempts_ended = attempt.number;
    if (known && attempt.cause)
      failures_.at(attempt.cause->cause_class, attempt.cause->domain).increment();
  }
}

void JobMetrics::count_pause(const TrainingJob& job, Counted& counted, bool known) {
  const auto& pause = job.status.pause;
  if (!pause || !pause->recorded_at || !pause->requested_at) return;
  if (pause->generation <= counted.pause_generation) return;
  counted.pause_generation = pause->generation;
  const auto took = *pause->recorded_at - *pause->requested_at;
  const bool possible = took >= took.zero() && took <= kPauseTimeMax;  // anybody may write a status
  if (known && possible) pauses_.at(pause->outcome).observe(took);
}

JobMetrics::Place JobMetrics::place_of(const TrainingJob& job) {
  const Place place{std::string(job.metadata.ns), job.spec.scheduling.queue};
  if (places_.contains(place) || places_.size() < kMetricPlacesMax)
    return *places_.insert(place).first;
  return {std::string(kOther), std::string(kOther)};
}

std::vector<Sample> JobMetrics::fleet_gpu_seconds() const {
  std::vector<Sample> samples;
  samples.reserve(gpu_seconds_.size());
  for (const auto& [where, total] : gpu_seconds_)
    samples.push_back({.labels = {{"namespace", where.first.first},
                                  {"queue", where.first.second},
                                  {"state", where.second}},
                       .value = static_cast<double>(total.shown)});
  return samples;
}

}  // namespace amdahl::training
