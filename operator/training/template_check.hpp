// Whether a job may become pods at all. Pure.
//
// Whoever may create a TrainingJob gets pods that the operator makes: what a user may not do with a
// pod must not be possible through a job. Admission of the cluster sees the pods too; this check is
// for clusters that have none, and names the field before anything is created.
#pragma once

#include <optional>
#include <string>

#include "operator/training/pod_options.hpp"
#include "operator/training/types.hpp"

namespace amdahl::training {

// The first thing that is wrong, as "spec.template.spec.hostNetwork: ..."; nullopt: nothing.
std::optional<std::string> spec_fault(const api::TrainingJobSpec& spec, const PodOptions& options);
// The same of the whole object. Asked whenever pods are about to be made, whatever exists already.
std::optional<std::string> job_fault(const TrainingJob& job, const PodOptions& options);

}  // namespace amdahl::training
