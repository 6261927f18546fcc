// What an attempt may hold that nobody has saved, and whether asking for it can help. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "operator/training/situation.hpp"

namespace amdahl::training {

// The step of the newest checkpoint on record.
std::optional<std::int64_t> last_committed(const api::TrainingJobStatus& status);

// Where the spec says, or by its own means. A job that does neither would do all its steps again in
// the next attempt as well, so no promise keeps it from being paused.
bool keeps_checkpoints(const Situation& s);

// Nobody knows how many steps there were after the last checkpoint.
bool works_uncounted(const Situation& s);

// Why asking would be pointless; nullopt: there is something to ask for. A trainer that has told
// of no step may have made thousands, and one without a checkpoint.uri may save elsewhere.
std::optional<std::string> nothing_to_save(const Situation& s);

}  // namespace amdahl::training
