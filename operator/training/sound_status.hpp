// A status that the policies can rely on: an attempt that goes on has a record and a size.
//
// The operator is the only one who should write a status, but everybody with a right to the
// subresource can, and the CRD takes more than the policies can work with. Pure.
#pragma once

#include <optional>

#include "operator/training/observed.hpp"

namespace amdahl::training {

inline constexpr std::int32_t kAttemptNumberMax = 1'000'000;

// The mended status; nullopt: there is nothing to mend. A condition whose time cannot be counted
// with has changed at `now`.
std::optional<api::TrainingJobStatus> mended_status(const TrainingJob& job, WallTime now);

}  // namespace amdahl::training
