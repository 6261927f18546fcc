// What checkpoints ask of a pod: memory to copy states into, how often to save, and an id that all
// ranks of an attempt share. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/fields.hpp"
#include "operator/training/pod_variables.hpp"
#include "operator/training/types.hpp"

namespace amdahl::training {

// What a trainer needs at least beside the memory that holds its snapshots.
inline constexpr std::int64_t kBesideArenaBytes = std::int64_t{64} << 20U;

// The first 32 hexadecimal digits of SHA-256( "amdahl-attempt-1\n" UID "\n" attempt "\n" ). The
// same for all ranks, whichever leader makes their pods; another one for every attempt and for a
// job that was deleted and made again, whose UID is another. Who cannot read the job cannot guess
// it.
std::string attempt_id(std::string_view job_uid, std::uint32_t attempt);

struct Attempt {
  const TrainingJob& job;
  std::uint32_t number = 1;
};
// Into the pod's spec, its trainer and its variables, if the job keeps checkpoints.
void put_checkpointing(Json& pod, Json& trainer, PodVariables& variables, const Attempt& of);

// What is wrong with spec.checkpoint.arenaBytes; nothing: it can work.
std::optional<std::string> arena_fault(const api::TrainingJobSpec& spec);

}  // namespace amdahl::training
