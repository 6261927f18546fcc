// The objects of a gang as they are sent: its pods and its headless Service. Pure.
//
// A pod is the user's template with what a gang needs laid over it: name, labels and finalizer of
// the attempt, the environment of the workload contract, amdahl-launch around the trainer's
// command, and the gang's scheduler. What the user wrote into those places does not count.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "base/fields.hpp"
#include "operator/training/pod_options.hpp"
#include "operator/training/types.hpp"

namespace amdahl::training {

// Held by every pod until its end has been seen.
inline constexpr std::string_view kGpusLabel = "amdahl.dev/gpus";
// torchrun gives its workers 30 s after SIGTERM; a pod must outlive that.
inline constexpr std::int64_t kGraceSecondsDefault = 60;

// What distinguishes the pods of an attempt.
struct Rank {
  std::uint32_t attempt = 1;
  std::uint32_t index = 0;
  std::int32_t nodes = 1;
  std::optional<std::int64_t> resume_step = {};
};

Json pod_of(const TrainingJob& job, const Rank& rank, const PodOptions& options);
Json service_of(const TrainingJob& job);
std::int32_t processes_per_node(const api::TrainingJobSpec& spec);

}  // namespace amdahl::training
