// Carries out collection.hpp's plan on a store, after a commit.
//
// Thread: one at a time. Lifetime: the store outlives it. Failure: kForbidden when the prefix is
// not ours; an error of the store ends it, and what was not reached goes next time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/engine/catalog.hpp"
#include "checkpoint/engine/collection.hpp"

namespace amdahl::checkpoint {

struct CollectOptions {
  RetentionPolicy policy = {};
  SavesKnown saves = {};
  WallTime leftovers_before = {};  // what creations left that began before; see Store
  bool dry_run = false;            // plan, and delete nothing
  int threads = 1;
};

struct Collected {
  CollectionPlan plan = {};
  std::vector<PassedOver> damaged = {};
  std::int64_t removed = 0;    // objects
  std::int64_t leftovers = 0;  // that list() does not see
};

class Collector {
 public:
  Collector(Store& store, std::string job_uid) : store_(store), job_uid_(std::move(job_uid)) {}
  Result<Collected> collect(const CollectOptions& options, const StoreCall& call);

 private:
  struct Known {
    std::string sha256 = {};  // of the manifest
    CommittedCheckpoint checkpoint = {};
  };
  Result<CommittedCheckpoint> read_checkpoint(std::int64_t step, const StoreCall& call);
  Result<CollectionInput> gather(const CollectOptions& options, const StoreCall& call,
                                 Collected& collected);
  Result<void> remove(Collected& collected, int threads, const StoreCall& call);

  Store& store_;
  std::string job_uid_;
  // Receipts do not change; they are read once, however often collection runs.
  std::map<std::int64_t, Known> known_;
};

}  // namespace amdahl::checkpoint
