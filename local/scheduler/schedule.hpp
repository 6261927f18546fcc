// The scheduler's decision: which pod goes to which node, and what is said of those that wait.
//
// Pure, total and deterministic: the same view gives the same plan, ties are broken by name.
// Applied to the view, the plan leaves nothing to do: schedule() then returns an empty one. What is
// bound stays where it is; nothing is preempted.
//
//   order   priority, then age, then name, over gangs and single pods alike
//   gang    minMember and minTaskMember at once or nothing; what is beyond them, one by one
//   node    of those that fit: preferred affinity, then the tightest, then the name
//
// A gang that does not fit blocks nobody behind it.
#pragma once

#include "base/clock.hpp"
#include "local/scheduler/cluster_view.hpp"

namespace amdahl::local {
namespace scheduling {

// What is beyond these, sorted by name, is not looked at. A cluster in one process is far below.
inline constexpr std::size_t kNodesMax = 16'384;
inline constexpr std::size_t kPodsMax = 65'536;
inline constexpr std::size_t kGroupsMax = 16'384;
// A larger amount counts as this one (64 Ti), so that sums over all of these cannot overflow.
inline constexpr Amount kAmountMax = (Amount{1} << 46) - 1;
// What one placement makes possible (a free queue, a neighbour) is tried in the next round.
inline constexpr std::size_t kRoundsMax = 64;

Plan schedule(const ClusterView& seen, WallTime now);

}  // namespace scheduling

using scheduling::ClusterView;
using scheduling::schedule;

}  // namespace amdahl::local
