// What the status of a PodGroup should say after a pass: phase, counts and conditions as Volcano
// writes them. Internal to the pure part.
//
//            let in             gang placed              all succeeded
//   Pending ---------> Inqueue -------------> Running ----------------> Completed
//      ^                                        |  members lost
//      |            nothing runs                v
//      +------------------------------------ Unknown (some still run)
//
// Unlike Volcano's, a condition stays as it is until it says something new: its transitionID names
// the pass that changed it, and a pass that changes nothing writes nothing.
#pragma once

#include "base/clock.hpp"
#include "local/scheduler/board.hpp"

namespace amdahl::local::scheduling {

GroupStatus group_status(const Board& board, Index group, WallTime now);

}  // namespace amdahl::local::scheduling
