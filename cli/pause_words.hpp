// What became of a pause and of saves, in a few words.
//
// Pure, any thread. Failure: none.
#pragma once

#include <string>

#include "operator/api/training_job.hpp"

namespace amdahl::cli {

// "paused: step 1200 is safe", "not paused: ..."; what status.pause records.
std::string pause_text(const api::PauseStatus& pause);

// The last save failed, and none was committed since.
bool saves_fail(const api::CheckpointStatus& checkpoint);
// "2 saves failed, the last because: No space left on device"
std::string failed_saves_text(const api::CheckpointStatus& checkpoint);

}  // namespace amdahl::cli
