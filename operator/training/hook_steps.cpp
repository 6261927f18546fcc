#include "operator/training/hook_steps.hpp"

#include <algorithm>
#include <vector>

namespace amdahl::training {

void leave_out_hook_steps(Observed& seen) {
  if (!seen.job) return;
  const auto ours = [&](const PodSeen& pod) {
    return static_cast<std::int64_t>(pod.attempt) == seen.job->status.attempt &&
           pod.owner_uid == seen.job->metadata.uid;
  };
  std::vector<api::Report*> reports;
  reports.reserve(seen.reports.size() + seen.pods.size());
  for (RankReport& one : seen.reports) reports.push_back(&one.report);
  for (PodSeen& pod : seen.pods)
    if (pod.last_words && ours(pod)) reports.push_back(&*pod.last_words);
  const auto hooked = [](const api::Report* report) {
    return report->step_source == api::StepSource::kHook;
  };
  const auto tells = [&](const api::Report* report) { return report->step && !hooked(report); };
  if (std::ranges::none_of(reports, tells)) return;
  for (api::Report* report : reports) {
    if (!hooked(report)) continue;
    report->step.reset();
    report->total_steps.reset();
    report->step_seconds.reset();
    report->step_source = api::StepSource::kUnknown;
  }
}

}  // namespace amdahl::training
