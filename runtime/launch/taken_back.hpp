// A pause that was taken back while the trainer may already be ending for it.
//
// A trainer that has heard of a pause and saves is not stopped by `amdahl resume`: it ends all the
// same, with the exit code of one that has done its work. So the pause is kept, and is what the
// last report of a trainer that ends well tells, until the trainer has gone on: two looks found it
// at another step. One is not enough, since a step may be under way and the end of a log is read
// late. A signal can be heeded as long as the pause may take, and nothing says that it was heard.
// Of a trainer that counts no steps, later checkpoints tell that it has gone on: the second one,
// since the first that came after the request may be a usual one, and the next the pause's.
// Pure. Failure: none; an input that does not fit changes nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/launch/pause.hpp"

namespace amdahl::launch {

struct TakenBack {
  static constexpr std::int32_t kLooksMin = 2;

  Pause pause = {};                       // None: nothing is kept
  std::optional<std::int64_t> step = {};  // the last that is known
  std::int32_t looks = 0;                 // that found another one, or later checkpoints
  bool operator==(const TakenBack&) const = default;
};

// `asked`: the pause that is asked for, before it takes the input.
TakenBack keep(TakenBack kept, const Pause& asked, const PauseInput& input);

// Whether a trainer that ended well, and both pauses know it, ended for the one that was taken
// back.
bool ended_for(const TakenBack& kept, const Pause& asked);

}  // namespace amdahl::launch
