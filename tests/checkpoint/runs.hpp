// What is done to a prefix while faults happen: runs of an engine, and of ranks one after another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/engine/engine.hpp"
#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint::test {

struct RunOptions {
  std::string attempt = {};
  std::vector<std::int64_t> steps = {};
  std::int32_t world_size = 1;
  bool alone = true;
  bool deltas = false;
  std::chrono::microseconds clock_skew = {};
};
// Each step is saved, committed, and old ones collected, as far as the store lets it. Gives the
// steps that were said to be committed.
std::vector<std::int64_t> run_engine(Store& store, const RunOptions& options);
// The same with several ranks, and no thread: saver by saver, then the committer and the collector.
std::vector<std::int64_t> run_ranks(Store& store, const RunOptions& options);

}  // namespace amdahl::checkpoint::test
