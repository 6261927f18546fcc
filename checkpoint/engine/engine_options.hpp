// What an engine is told at its start, in whichever process its writer runs.
//
// Plain values; thread any. Failure: check() gives kInvalid with the option.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "checkpoint/engine/arena.hpp"
#include "checkpoint/engine/memory_budget.hpp"
#include "checkpoint/engine/retention.hpp"
#include "checkpoint/engine/saver.hpp"
#include "checkpoint/engine/snapshot_plan.hpp"

namespace amdahl::checkpoint {

struct EngineOptions {
  RankIdentity who = {};
  PlanOptions plan = {};
  RetentionPolicy retention = {};
  bool alone = true;              // no other attempt of the job is alive: collection.hpp
  ArenaOptions arena = {};        // 0 bytes: as much as the first snapshots need
  MemoryBudget budget = {};       // what an arena of that size may take
  std::size_t snapshots_max = 2;  // copied and not yet written
  int copy_threads = 2;
  int upload_threads = 4;
  std::chrono::nanoseconds save_deadline = std::chrono::minutes(30);  // of one save, to its commit
  std::chrono::nanoseconds leftovers_age = std::chrono::hours(1);
  int save_tries = 2;           // of a job with one rank
  bool find_frozen = true;      // frozen.hpp
  bool planes = false;          // bf16 in planes
  bool deltas = false;          // and as differences; jobs with one rank only
  std::int32_t full_every = 8;  // a checkpoint without deltas, at most kChainMax apart
  std::string image_digest = {};
  std::string signing_key_file = {};  // signing.hpp; empty: manifests are not signed
  bool sha256 = false;                // of every chunk: what the signature of another rank needs

  bool sums_for_signature() const { return sha256 || !signing_key_file.empty(); }
};

Result<void> check(const EngineOptions& options);

}  // namespace amdahl::checkpoint
