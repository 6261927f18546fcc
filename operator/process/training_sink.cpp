#include "operator/process/training_sink.hpp"

#include "operator/api/names.hpp"
#include "operator/training/observed.hpp"

namespace amdahl {

std::optional<report::JobPod> find_job_pod(const training::Caches& caches,
                                           const kube::ObjectKey& pod) {
  const training::GangPodPtr found = caches.pods.find(pod);
  if (!found) return std::nullopt;
  const training::PodSeen seen = training::pod_seen(found);
  const auto identity = api::pod_identity(found->metadata.labels);
  if (!identity || seen.attempt == 0 || seen.owner_uid.empty()) return std::nullopt;
  return report::JobPod{.pod_uid = seen.uid,
                        .job = {.ns = pod.ns, .name = identity->job},
                        .job_uid = seen.owner_uid,
                        .attempt = static_cast<std::int32_t>(seen.attempt),
                        .rank = static_cast<std::int32_t>(seen.rank)};
}

api::ReportReply TrainingSink::take(const report::JobPod& pod, api::Report report) {
  if (const report::Progress* said = progress_.find(pod.pod_uid)) {
    if (!report.step) report.step = said->step;
    if (!report.total_steps) report.total_steps = said->total_steps;
    if (report.metrics.empty()) report.metrics = said->metrics;
  }
  const WallTime now = clock_.wall();
  reports_.note(std::move(report), pod.pod_uid, now);
  return reports_.reply_for(pod.job_uid, pod.attempt, now);
}

void TrainingSink::take_progress(const report::JobPod& pod, const report::Progress& progress) {
  progress_.put(pod.pod_uid, progress);
}

}  // namespace amdahl
