// A pause that was refused, and the first checkpoint that is committed after it. Pure.
//
// The commit shows that saves work again, but it is one of the usual ones: the ranks went on after
// it. With the policy Committed they are asked again, once for each newer commit, and first the
// launchers take the old request back, since to them a repeated request is the same one.
#pragma once

#include <cstdint>
#include <optional>

#include "operator/training/situation.hpp"

namespace amdahl::training {

// Rank 0 says that the checkpoint for this pause is complete, or all the others do.
std::optional<std::int64_t> committed_step(const Situation& s);

// It was refused in an attempt that failed, so that asking might make the next one fail as well. A
// trainer that was merely disrupted is asked again.
bool leaves_alone(const Situation& s);

enum class AfterCommit : std::uint8_t {
  kEnd,       // the pause ends with this commit
  kTakeBack,  // launchers still hold the old request
  kAsk,       // nobody holds it any longer: ask again
  kWait,      // a request is under way, or the trainer has ended
};
struct NewCommit {
  std::int64_t step = 0;
  AfterCommit then = AfterCommit::kWait;
};
// nullopt: nothing was committed since the pause was refused.
std::optional<NewCommit> after_commit(const Situation& s);

}  // namespace amdahl::training
