// Writes snapshots, commits them (rank 0), and lets old checkpoints go: the half of an engine that
// talks to the store. It runs on a thread of the trainer (engine.hpp) or in a process of its
// own (agent.hpp).
//
// Thread: write() and clean_up() from one thread, status() from any. Lifetime: store, clock and
// waiter outlive it; with deltas it keeps the memory of the newest snapshot. Failure: what saver
// and committer say, after the tries that a job with one rank has; kConflict, too, when rank 0 has
// gone on without committing (later_saves.hpp); a failed save leaves nothing that a reader would
// take for a checkpoint.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "checkpoint/engine/collector.hpp"
#include "checkpoint/engine/committer.hpp"
#include "checkpoint/engine/encode.hpp"
#include "checkpoint/engine/engine_options.hpp"
#include "checkpoint/engine/engine_status.hpp"
#include "checkpoint/engine/saver.hpp"
#include "checkpoint/engine/waiter.hpp"

namespace amdahl::checkpoint {

// A snapshot, and who keeps its bytes where they are.
struct TakenSnapshot {
  SnapshotRecord record = {};
  std::vector<Bytes> bytes = {};  // of each object; none of one that is stored already
  Seconds copied_in = Seconds(0);
  std::shared_ptr<const void> memory = {};
};
// The bytes that each object of a record has in an arena; read_snapshot_record() has checked them.
std::vector<Bytes> bytes_in(Bytes arena, const SnapshotRecord& record);

// By object: blobs that the checkpoint which was just committed refers to.
using NamedBlobs = std::map<std::size_t, std::string>;

// How long other ranks wait for rank 0 to replace a damaged checkpoint of their step.
inline constexpr std::chrono::minutes kReplaceMax{2};

class SnapshotWriter {
 public:
  SnapshotWriter(Store& store, Clock& clock, Waiter& waiter, const EngineOptions& options);

  Result<NamedBlobs> write(const TakenSnapshot& snapshot, const StoreCall& call);
  // Removes what the last commit replaced, if there was one (rank 0). Apart from write(), because
  // nobody has to wait for it, and a disk may take long to forget a checkpoint.
  void clean_up(const StoreCall& call);
  WriteStatus status() const;
  void go_on_from(const WriteStatus& status);  // of a writer that is no more

 private:
  // What deltas are against.
  struct Base {
    TakenSnapshot snapshot = {};
    std::int32_t chain = 0;
  };
  struct Made {
    Checkpoint checkpoint = {};
    NamedBlobs blobs = {};
  };

  Result<NamedBlobs> finish(const TakenSnapshot& snapshot, const StoreCall& call);
  Result<EncodedSnapshot> encoded(const TakenSnapshot& snapshot) const;
  Result<void> need_signer();
  Result<Made> attempt(const EncodedSnapshot& encoded, const TakenSnapshot& snapshot,
                       int try_number, const StoreCall& call);
  Result<Checkpoint> await_manifest(const SaveKey& save, const StoreCall& call);
  Result<Made> own_earlier_try(std::int64_t step, Result<Made> conflict, const StoreCall& call);
  void committed(const TakenSnapshot& snapshot, bool has_deltas, const Checkpoint& made);

  Store& store_;
  Clock& clock_;
  Waiter& waiter_;
  const EngineOptions& options_;
  WallTime opened_at_;
  Saver saver_;
  Committer committer_;
  Collector collector_;
  std::optional<Base> base_;
  std::optional<PrivateKey> signer_;         // once it was read
  std::optional<std::int64_t> to_clean_up_;  // after the commit of this step
  mutable std::mutex mutex_;
  WriteStatus status_;
};

}  // namespace amdahl::checkpoint
