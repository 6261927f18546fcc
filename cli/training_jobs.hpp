// TrainingJobs as the command line reads them: the type, its name on the command line, one by name.
//
// Thread: one. Lifetime: the client outlives the tasks. Failure: Errc::kNotFound says whether the
// job or the whole kind is missing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/task.hpp"
#include "cli/cluster_access.hpp"
#include "operator/api/phase.hpp"
#include "operator/api/training_job.hpp"
#include "operator/kube/types_meta.hpp"

namespace amdahl::cli {

inline const kube::Resource kTrainingJobs{
    .group = "amdahl.dev", .version = "v1alpha1", .plural = "trainingjobs", .kind = "TrainingJob"};

struct TrainingJob : api::TrainingJobOf<kube::ObjectMeta> {
  static const kube::Resource& resource() { return kTrainingJobs; }
};

// The name in "tj/llama", "trainingjob/llama", "trainingjobs.amdahl.dev/llama" or "job/llama";
// nullopt when the word names no TrainingJob explicitly.
std::optional<std::string> explicit_job(std::string_view word);
// The same, or the word itself.
std::string job_name(std::string_view word);

Task<Result<TrainingJob>> find_job(Access access, std::string name);
// What a 404 of a TrainingJob means.
Task<Error> job_not_found(Access access, std::string name);

// From the conditions, or what the status says where it has none.
api::Summary phase_of(const TrainingJob& job);
bool is_finished(api::Phase phase);
// The container that is meant: the trainer, or the only one of the template.
std::string trainer_of(const TrainingJob& job);

}  // namespace amdahl::cli
