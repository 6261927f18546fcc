#include "operator/process/training_sink.hpp"

#include "operator/api/names.hpp"
#include "operator/training/observed.hpp"

namespace amdahl {
namespace {

using training::PodSeen;
using training::TrainingJob;

// The first attempt runs before any status has its number (ADR 0019).
std::int32_t current_attempt(const TrainingJob& job) {
  return job.status.attempt == 0 ? 1 : job.status.attempt;
}

// A job that is suspended may be resized while the ranks of its last attempt still save.
std::int32_t ranks_of(const TrainingJob& job) {
  const auto& workers = job.status.workers;
  return workers && workers->desired > 0 ? workers->desired : job.spec.nodes;
}

Result<void> check_rank(const kube::ObjectKey& pod, const PodSeen& seen, const TrainingJob& job) {
  const std::string& name = job.metadata.name;
  if (static_cast<std::int64_t>(seen.attempt) != current_attempt(job))
    return fail(Errc::kForbidden,
                "pod {} is labelled as attempt {} of TrainingJob {}, which is at attempt {}",
                to_string(pod), seen.attempt, name, current_attempt(job));
  if (static_cast<std::int64_t>(seen.rank) >= ranks_of(job))
    return fail(Errc::kForbidden,
                "pod {} is labelled as rank {} of TrainingJob {}, which has {} {}", to_string(pod),
                seen.rank, name, ranks_of(job), ranks_of(job) == 1 ? "node" : "nodes");
  const std::string made = api::pod_name(name, seen.attempt, seen.rank);
  if (made != pod.name)
    return fail(Errc::kForbidden, "rank {} of TrainingJob {} is pod {}, not {}", seen.rank, name,
                made, pod.name);
  return {};
}

}  // namespace

Result<report::JobPod> find_job_pod(const training::Caches& caches, const kube::ObjectKey& pod) {
  const training::GangPodPtr found = caches.pods.find(pod);
  const auto identity = found ? api::pod_identity(found->metadata.labels) : std::nullopt;
  if (!identity) return fail(Errc::kForbidden, "pod {} belongs to no TrainingJob", to_string(pod));
  const kube::ObjectKey key{.ns = pod.ns, .name = identity->job};
  const training::JobPtr job = caches.jobs.find(key);
  if (!job)
    return fail(Errc::kForbidden, "pod {} is labelled for TrainingJob {}, which does not exist",
                to_string(pod), to_string(key));
  const PodSeen seen = training::pod_seen(found);
  if (seen.owner_uid != job->metadata.uid)
    return fail(Errc::kForbidden, "pod {} is not owned by TrainingJob {}", to_string(pod),
                to_string(key));
  TRY(check_rank(pod, seen, *job));
  return report::JobPod{.pod_uid = seen.uid,
                        .job = key,
                        .job_uid = seen.owner_uid,
                        .attempt = static_cast<std::int32_t>(seen.attempt),
                        .rank = static_cast<std::int32_t>(seen.rank)};
}

report::PodKnown knows_pod(const training::Caches& caches, const report::TokenPod& pod) {
  const kube::ObjectKey key{.ns = pod.ns, .name = pod.pod};
  const training::GangPodPtr found = caches.pods.find(key);
  if (!found || std::string_view(found->metadata.uid) != pod.pod_uid) return report::PodKnown::kNo;
  return find_job_pod(caches, key) ? report::PodKnown::kMade : report::PodKnown::kClaimant;
}

bool has_job(const training::Caches& caches, const training::JobId& job) {
  const training::JobPtr found = caches.jobs.find(job.key);
  return found && found->metadata.uid == job.uid;
}

TrainingSink::TrainingSink(training::Reports& reports, Clock& clock, MetricsRegistry& registry,
                           Exists exists)
    : reports_(reports), clock_(clock), exists_(std::move(exists)), swept_(clock.monotonic()) {
  report::show_reported_jobs(registry, [this] { return reports_.jobs(); });
}

bool TrainingSink::sweep(std::chrono::nanoseconds every) {
  const Monotonic now = clock_.monotonic();
  if (now < swept_ + every) return false;
  swept_ = now;
  reports_.sweep(exists_);
  return true;
}

Result<api::ReportReply> TrainingSink::take(const report::JobPod& pod, api::Report report) {
  if (const report::Progress* said = progress_.find(pod.pod_uid)) {
    // What a script says itself counts more than what a hook counted in it.
    const bool by_hook = report.step_source == api::StepSource::kHook;
    if (said->step && (!report.step || by_hook)) {
      report.step = said->step;
      if (by_hook) report.step_source = api::StepSource::kUnknown;
    }
    if (!report.total_steps) report.total_steps = said->total_steps;
    if (report.metrics.empty()) report.metrics = said->metrics;
  }
  const Monotonic now = clock_.monotonic();
  sweep(kReportsSweepEvery);
  training::Noted noted = reports_.note(report, pod.pod_uid, now);
  if (noted == training::Noted::kFull && sweep(kReportsSweepFullEvery))
    noted = reports_.note(std::move(report), pod.pod_uid, now);
  if (noted == training::Noted::kFull)
    return fail(Errc::kUnavailable, "{} jobs report already, which is the most; report again later",
                reports_.jobs());
  return reports_.reply_for({.key = pod.job, .uid = pod.job_uid}, pod.attempt, now);
}

void TrainingSink::take_progress(const report::JobPod& pod, const report::Progress& progress) {
  progress_.put(pod.pod_uid, progress);
}

}  // namespace amdahl
