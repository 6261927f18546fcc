#include "cli/training_jobs.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "base/json_member.hpp"
#include "operator/api/names.hpp"
#include "operator/kube/api.hpp"
#include "operator/kube/discovery.hpp"

namespace amdahl::cli {

std::optional<std::string> explicit_job(std::string_view word) {
  static constexpr std::array<std::string_view, 6> kPrefixes = {"tj/",
                                                                "trainingjob/",
                                                                "trainingjobs/",
                                                                "job/",
                                                                "trainingjob.amdahl.dev/",
                                                                "trainingjobs.amdahl.dev/"};
  for (const std::string_view prefix : kPrefixes)
    if (word.starts_with(prefix)) return std::string(word.substr(prefix.size()));
  return std::nullopt;
}

std::string job_name(std::string_view word) {
  return explicit_job(word).value_or(std::string(word));
}

Task<Error> job_not_found(Access access, std::string name) {
  kube::Discovery discovery(access.client);
  const auto kind = co_await discovery.find(kTrainingJobs.group, kTrainingJobs.kind);
  if (!kind && kind.error().code == Errc::kNotFound)
    co_return Error{.code = Errc::kNotFound,
                    .context =
                        "this cluster has no TrainingJobs; the kind is in "
                        "crds/trainingjobs.yaml ('amdahl apply -f' adds it)"};
  co_return Error{
      .code = Errc::kNotFound,
      .context = fmt::format("namespace {} has no TrainingJob \"{}\"", access.ns, name)};
}

Task<Result<TrainingJob>> find_job(Access access, std::string name) {
  auto job = co_await kube::Api<TrainingJob>(access.client).get({.ns = access.ns, .name = name});
  if (!job && job.error().code == Errc::kNotFound)
    co_return std::unexpected<Error>(co_await job_not_found(access, name));
  co_return job;
}

api::Summary phase_of(const TrainingJob& job) {
  const api::TrainingJobStatus& status = job.status;
  if (status.conditions.empty() && status.phase != api::Phase::kUnknown)
    return {.phase = status.phase, .reason = status.reason};
  return api::summarize(status);
}

bool is_finished(api::Phase phase) {
  return phase == api::Phase::kSucceeded || phase == api::Phase::kFailed ||
         phase == api::Phase::kCancelled;
}

std::string trainer_of(const TrainingJob& job) {
  const Json& containers = member_of(member_of(job.spec.pod_template, "spec"), "containers");
  if (!containers.is_array()) return "";
  std::string only;
  for (const Json& container : containers) {
    only = text_of(container, "name");
    if (only == api::kTrainerContainer) return only;
  }
  return containers.size() == 1 ? only : "";
}

}  // namespace amdahl::cli
