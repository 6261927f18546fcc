// Gangs: the pods of a PodGroup are placed together or not at all. Internal to the pure part.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "local/scheduler/board.hpp"

namespace amdahl::local::scheduling {

// The members of a group, as far as a gang is concerned.
struct GangCount {
  std::int32_t ready = 0;    // on a node and not on their way out, or succeeded
  std::int32_t on_node = 0;  // the same with those on their way out
  std::int32_t running = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
  std::map<std::string, std::int32_t> ready_of_task = {};
  std::vector<Index> waiting = {};
};
GangCount count_gang(const Board& board, const GroupRow& group);

// minMember and minTaskMember are met by members that are ready.
bool gang_is_ready(const GroupRow& group, const GangCount& count);

// It ran once, and what is left of it is nothing that runs: it queues again as if it were new.
bool has_lapsed(const Board& board, const GroupRow& group);

// Places what can be placed of a group that was let in; false: nothing changed. Members that wait,
// and the group if it is not ready, have their reasons afterwards.
bool place_gang(Board& board, Index group);

// Places one pod that belongs to no group.
bool place_single(Board& board, Index pod);

}  // namespace amdahl::local::scheduling
