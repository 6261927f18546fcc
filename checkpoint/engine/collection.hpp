// What may be deleted from a prefix, and in which order: a pure decision on a listing and on the
// records that were read after it (docs/reference/checkpoint-format.md, rules 7 and 8).
//
// Never deleted: names that are not ours, the owner record, pins, what a kept checkpoint stands on,
// objects of a save that may still be committed. A checkpoint that is there but cannot be read may
// stand on anything older and on any blob: all of that stays. Pure; thread any; failure: none.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/engine/retention.hpp"
#include "checkpoint/engine/save_id.hpp"

namespace amdahl::checkpoint {

// What is known of saves that have no manifest.
struct SavesKnown {
  std::string attempt = {};          // ours, or empty
  std::int64_t committed_step = -1;  // the newest that our attempt has committed
  // No other attempt is alive: whoever starts attempts says so. Else saves of others stay, even
  // when another one has their step: its manifest may be deleted, and theirs then be created.
  bool alone = false;
};

struct CollectionInput {
  RetentionPolicy policy = {};
  std::vector<StoredObject> listed = {};
  std::vector<CommittedCheckpoint> committed = {};
  std::set<std::int64_t> damaged = {};  // steps with a manifest that cannot be used
  SavesKnown saves = {};
};

struct CollectionPlan {
  std::vector<StoredObject> remove = {};  // in this order
  std::set<std::int64_t> kept = {};       // committed steps
  std::int64_t remove_bytes = 0;
  std::int64_t foreign = 0;  // names that are not ours
  std::int64_t waiting = 0;  // objects of saves that may still be committed
};

CollectionPlan plan_collection(const CollectionInput& input);

}  // namespace amdahl::checkpoint
