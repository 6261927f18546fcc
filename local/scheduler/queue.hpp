// Queues: who is let in, and what a queue may hold at most. Internal to the pure part.
//
// A group is let in (phase Inqueue) when its queue is open and its minResources could be given out
// soon: Volcano's overcommit of 1.2 over what is there, and the queue's capability. A group without
// minResources is let in at once. A queue that is closed lets nobody in; who is in stays in.
#pragma once

#include <string>

#include "local/scheduler/board.hpp"

namespace amdahl::local::scheduling {

// Lets the group in if its queue allows; false: nothing changed. A group that stays out has its
// reason afterwards.
bool enqueue(Board& board, Index group);

// Empty: the queue has room for the pod. Otherwise a sentence.
std::string queue_refuses(const Board& board, const PodRow& pod);

// What the queue's status should say after this pass. `phases` are those of all groups.
QueueStatus queue_status(const Board& board, Index queue, const std::vector<GroupPhase>& phases);

// "500m", "8Gi", "4": as people write amounts of that resource.
kube::Quantity quantity_of(std::string_view resource, Amount amount);

}  // namespace amdahl::local::scheduling
