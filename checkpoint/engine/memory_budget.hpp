// Whether the memory that snapshots need is there, asked before any of it is taken: a limit that is
// met in the middle of a save ends the trainer.
//
// Plain values and a reader that is given; thread any. Failure: kTooLarge, with what is needed and
// what there is.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.hpp"

namespace amdahl::checkpoint {

struct MemoryBudget {
  std::int64_t node_bytes = 0;       // for the arenas of a node; 0: nobody said
  std::int64_t limit_bytes = 0;      // of everything in the container; 0: none
  std::int64_t local_processes = 1;  // that share both
};

// `bytes` is what the arena of one process needs.
Result<void> check_budget(std::int64_t bytes, const MemoryBudget& budget);

// memory.max of the control group that a container sees as its root (or the older name of it).
// `read` gives a file's text, empty when there is none. 0: no limit.
std::int64_t read_memory_limit(const std::function<std::string(const std::string& path)>& read);

}  // namespace amdahl::checkpoint
