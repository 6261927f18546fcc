// What was found where a job keeps its checkpoints, before an attempt asks for a GPU.
//
// Plain values, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace amdahl::training {

inline constexpr std::size_t kPassedOverMax = 16;  // newer ones that are named
inline constexpr std::size_t kWhyBytesMax = 240;   // of each of them, and of what is unreadable

struct FoundCheckpoint {
  std::int64_t step = 0;
  std::string digest = {};  // of its manifest: sha256:...
  std::int64_t bytes = 0;
  std::optional<WallTime> committed_at = {};
  bool operator==(const FoundCheckpoint&) const = default;
};
struct PassedStep {
  std::int64_t step = 0;
  std::string why = {};
  bool operator==(const PassedStep&) const = default;
};
struct CheckpointFinding {
  std::optional<FoundCheckpoint> newest = {};  // that is sound; nothing: there is none
  std::vector<PassedStep> passed_over = {};    // newer and damaged, newest first
  // Not empty: the prefix is another job's. Words for this job's users: no name of another
  // namespace, no UID.
  std::string taken_by = {};
  bool operator==(const CheckpointFinding&) const = default;
};

// Where to look, for which attempt of whom.
struct CheckpointAsk {
  std::string job_uid = {};
  std::string job = {};  // namespace/name
  std::int32_t attempt = 0;
  std::string uri = {};
  bool operator==(const CheckpointAsk&) const = default;
};

// How a look ended.
struct CheckpointLook {
  std::int32_t attempt = 0;
  WallTime when = {};
  std::optional<CheckpointFinding> finding = {};  // nothing: the store could not be read
  std::string unreadable = {};                    // why
  bool operator==(const CheckpointLook&) const = default;
};

}  // namespace amdahl::training
