// Which committed checkpoints stay.
//
// A checkpoint is kept for any one of these reasons: it is the newest, among the last N, at a
// multiple of K steps, among the best N by a metric, or pinned. A quota then takes the oldest away,
// those that are best by metric last, never the newest or a pinned one. What a kept delta stands
// on stays in any case. Pure; thread any; failure: none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

struct RetentionPolicy {
  std::int32_t keep_last = 3;         // the newest is kept even with 0
  std::int64_t keep_every_steps = 0;  // 0: for no such reason
  std::int64_t bytes_max = 0;         // of everything that is kept; 0: as many as there are
  std::int32_t best_count = 0;
  std::string best_metric = {};
  bool lower_is_better = true;
};

// A checkpoint whose manifest and receipts were read and belong together.
struct CommittedCheckpoint {
  std::int64_t step = 0;
  std::string save_id = {};
  std::optional<std::int64_t> parent = {};
  std::map<std::string, std::string> metrics = {};
  bool pinned = false;
  std::vector<StoredObject> holds = {};  // its receipts, data objects and blobs
};

std::set<std::int64_t> steps_to_keep(const RetentionPolicy& policy,
                                     std::span<const CommittedCheckpoint> committed);
// Of these steps together; what several of them hold counts once.
std::int64_t bytes_held(std::span<const CommittedCheckpoint> committed,
                        const std::set<std::int64_t>& steps);

}  // namespace amdahl::checkpoint
