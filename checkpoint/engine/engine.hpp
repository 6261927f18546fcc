// Checkpoints of one rank: save() copies the state and returns; a thread of its own writes it,
// commits it (rank 0), and then lets old checkpoints go.
//
// Thread: save() and load() from one thread at a time, the rest from any. Lifetime: store, clock
// and waiter outlive it; its destructor stops what is under way and waits for that. Failure: save()
// fails for what can be told at once; wait() and status() say what became of the rest. A failed
// save leaves nothing that a reader would take for a checkpoint.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "checkpoint/engine/arena.hpp"
#include "checkpoint/engine/cadence.hpp"
#include "checkpoint/engine/collector.hpp"
#include "checkpoint/engine/committer.hpp"
#include "checkpoint/engine/encode.hpp"
#include "checkpoint/engine/engine_status.hpp"
#include "checkpoint/engine/frozen.hpp"
#include "checkpoint/engine/saver.hpp"
#include "checkpoint/engine/snapshot_copy.hpp"
#include "checkpoint/engine/waiter.hpp"

namespace amdahl::checkpoint {

struct EngineOptions {
  RankIdentity who = {};
  PlanOptions plan = {};
  RetentionPolicy retention = {};
  bool alone = true;              // no other attempt of the job is alive: collection.hpp
  ArenaOptions arena = {};        // 0 bytes: as much as the first snapshots need
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
};

struct SaveRequest {
  std::int64_t step = 0;
  std::span<const TensorSpec> specs = {};
  std::span<const std::byte* const> tensors = {};
  std::string state = {};  // JSON as in a receipt, or empty
  std::map<std::string, std::string> metrics = {};
  std::chrono::nanoseconds patience = {};  // for earlier snapshots to be written
};

class Engine {
 public:
  static Result<std::unique_ptr<Engine>> open(Store& store, Clock& clock, Waiter& waiter,
                                              EngineOptions options);
  ~Engine();

  // Returns when every byte is copied. Steps grow; a step is saved once, whatever became of it, so
  // that no name is used for other bytes. kThrottled: earlier snapshots are still being written,
  // this one was skipped. kTooLarge: the arena is too small; the text has the bytes needed.
  Result<void> save(const SaveRequest& request);
  // Until all saves so far have ended. The error of the newest, if it failed; kTimeout.
  Result<void> wait(std::chrono::nanoseconds patience);
  EngineStatus status() const;
  const EngineOptions& options() const { return options_; }

 private:
  struct StoredBlob {
    std::string name = {};
    ChunkSums sums = {};
  };
  // A blob that the newest checkpoint refers to: it need not be copied again while its sums agree.
  struct Confirmed {
    std::shared_ptr<const SnapshotPlan> plan = {};
    std::map<std::size_t, StoredBlob> blobs = {};  // by object of the plan
  };
  struct Job {
    std::shared_ptr<const SnapshotPlan> plan = {};
    std::vector<ChunkSums> sums = {};
    std::map<std::size_t, StoredBlob> stored = {};  // blobs that were not copied
    ArenaSpace::Lease lease = {};
    std::int64_t step = 0;
    std::string state = {};
    std::map<std::string, std::string> metrics = {};
    Seconds copied_in = Seconds(0);
  };
  // What deltas are against.
  struct Base {
    Job job = {};
    SnapshotRecord record = {};
    std::vector<Bytes> bytes = {};
    std::int32_t chain = 0;
  };

  Engine(Store& store, Clock& clock, Waiter& waiter, EngineOptions options);
  Result<std::shared_ptr<const SnapshotPlan>> plan_for(const SaveRequest& request);
  Result<void> need_arena(const SnapshotPlan& plan);
  Result<Job> copy(const SaveRequest& request, const std::shared_ptr<const SnapshotPlan>& plan);
  bool still_same(const Job& job);
  void use_arena(Arena arena);

  void run(const std::stop_token& stop);
  Result<void> finish(Job& job, const StoreCall& call);
  Result<SnapshotRecord> record_for(const Job& job) const;
  Result<Checkpoint> write(const EncodedSnapshot& encoded, const Job& job, int try_number,
                           const StoreCall& call);
  Result<Checkpoint> await_manifest(const SaveKey& save, const StoreCall& call);
  Result<Checkpoint> own_earlier_try(std::int64_t step, Result<Checkpoint> conflict,
                                     const StoreCall& call);
  std::vector<Bytes> bytes_in_arena(const Job& job) const;
  void committed(Job& job, const SnapshotRecord& record, bool has_deltas, const Checkpoint& made);
  void collect(std::int64_t step, const StoreCall& call);

  Store& store_;
  Clock& clock_;
  Waiter& waiter_;
  EngineOptions options_;
  WallTime opened_at_;
  // Of the thread that saves.
  std::vector<TensorSpec> planned_for_;
  std::uint64_t planned_version_ = 0;  // of frozen_
  std::shared_ptr<const SnapshotPlan> plan_;
  std::shared_ptr<ArenaSpace> space_;
  std::int64_t last_step_ = -1;  // that was copied
  // Of the thread that writes.
  Saver saver_;
  Committer committer_;
  Collector collector_;
  std::optional<Base> base_;
  // Of both.
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job> queue_;
  bool working_ = false;
  std::optional<Error> newest_error_;
  Confirmed confirmed_;
  FrozenTensors frozen_;
  EngineStatus status_;
  std::jthread thread_;  // last: ends first
};

}  // namespace amdahl::checkpoint
