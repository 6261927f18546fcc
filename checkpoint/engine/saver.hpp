// Writes what one rank has: data objects, then blobs, then its receipt, which says that they are
// durable (rules 4 and 5).
//
// An object that could not be written is tried again under another part number, so that no name is
// written twice and no other rank has to know. A receipt of the same save that has the same bytes
// is taken for our own: a process that died before us wrote it (agent.hpp). Thread: one at a time.
// Lifetime: the store outlives it. Failure: what the store says; kGone when a blob that was to be
// used again may no longer be.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "checkpoint/engine/snapshot_record.hpp"
#include "checkpoint/format/receipt.hpp"
#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

inline constexpr int kPartTriesMax = 2;  // names that one object is tried under

// Who saves.
struct RankIdentity {
  std::string job_uid = {};
  std::string job = {};  // namespace/name, for people
  std::int32_t rank = 0;
  std::int32_t world_size = 1;
  std::string attempt = {};  // save_id.hpp
};

// A snapshot, and the bytes of each of its objects; none for one that is stored already.
struct ToSave {
  const SnapshotRecord& record;
  std::span<const Bytes> bytes = {};
  std::string save_id = {};
};

struct SavedRank {
  Receipt receipt = {};
  std::int64_t uploaded_bytes = 0;
  std::int64_t reused_bytes = 0;  // in blobs that were there
};

class Saver {
 public:
  Saver(Store& store, Clock& clock, RankIdentity who, int upload_threads)
      : store_(store), clock_(clock), who_(std::move(who)), threads_(upload_threads) {}

  Result<SavedRank> save(const ToSave& save, const StoreCall& call);

 private:
  struct Placed;
  Result<void> place(const ToSave& save, std::size_t object, const StoreCall& call, Placed& placed);
  Result<void> place_data(const ToSave& save, std::size_t object, const StoreCall& call,
                          Placed& placed);
  // The receipt that is there in the end.
  Result<Receipt> write_receipt_of(Receipt receipt, const StoreCall& call);

  Store& store_;
  Clock& clock_;
  RankIdentity who_;
  int threads_;
  bool claimed_ = false;
};

}  // namespace amdahl::checkpoint
