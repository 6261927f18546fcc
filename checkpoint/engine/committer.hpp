// Makes a checkpoint of what all ranks have written: waits for their receipts, checks them as a
// reader does, and creates the manifest if it is absent. That is the commit (rule 6).
//
// Two committers at once do no harm: one of them creates it, and both find out which. A checkpoint
// of the same step that is damaged is replaced. Thread: one at a time. Lifetime: store, clock and
// waiter outlive it. Failure: kTimeout when receipts are missing at the deadline, with the ranks;
// kConflict when another save has this step, or when a rank has gone on to a later one without its
// receipt (later_saves.hpp); else what the store or the check says. After an error the outcome may
// still be a commit, of this very save and whole.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "checkpoint/engine/catalog.hpp"
#include "checkpoint/engine/save_id.hpp"
#include "checkpoint/engine/waiter.hpp"
#include "checkpoint/format/signature.hpp"
#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

inline constexpr int kManifestTriesMax = 3;
inline constexpr std::chrono::milliseconds kReceiptPollMin{2};
inline constexpr std::chrono::milliseconds kReceiptPollMax{1000};
// The next pause of who waits for another rank: a quarter of the time so far, so that a short wait
// is noticed soon and a long one costs few requests.
constexpr std::chrono::nanoseconds longer(std::chrono::nanoseconds pause) {
  return std::min<std::chrono::nanoseconds>(pause + pause / 4, kReceiptPollMax);
}

struct CommitJob {
  std::string job_uid = {};
  std::string attempt = {};  // whose later saves count; empty: receipts are awaited to the end
  SaveKey save = {};
  std::int32_t world_size = 1;
  std::map<std::string, std::string> metrics = {};
  std::string image_digest = {};
  std::optional<std::int64_t> parent = {};  // step that deltas are against
  std::optional<PrivateKey> signer = {};
};

class Committer {
 public:
  Committer(Store& store, Clock& clock, Waiter& waiter)
      : store_(store), clock_(clock), waiter_(waiter) {}

  // The checkpoint as it was committed.
  Result<Checkpoint> commit(const CommitJob& job, const StoreCall& call);

 private:
  Result<void> await_receipts(const CommitJob& job, const StoreCall& call);
  Result<std::vector<ReadReceipt>> read_receipts(const CommitJob& job, const StoreCall& call);
  Result<Checkpoint> prepare(const CommitJob& job, const StoreCall& call);
  Result<void> check_objects(const Checkpoint& checkpoint, const StoreCall& call);
  Result<bool> is_sound(std::int64_t step, const StoreCall& call);
  Result<ReadManifest> create(const CommitJob& job, const ReadManifest& manifest,
                              const StoreCall& call);

  Store& store_;
  Clock& clock_;
  Waiter& waiter_;
};

}  // namespace amdahl::checkpoint
