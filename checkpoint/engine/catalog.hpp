// The records of a store as a reader must see them: fetched, and checked as the format's page says.
//
// Thread: any. Failure: what the store says; kCorrupt, kInvalid or kTooLarge for records that are
// damaged, kNotFound for those that are gone. is_damage() tells them from a store that does not
// answer, after which nothing is known.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "checkpoint/format/history.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/owner.hpp"
#include "checkpoint/format/receipt.hpp"
#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kFallbacksMax = 16;  // newer checkpoints that may be damaged
inline constexpr int kReceiptReadersMax = 8;      // receipts that are read at once

constexpr bool is_damage(Errc code) {
  return code == Errc::kCorrupt || code == Errc::kInvalid || code == Errc::kTooLarge ||
         code == Errc::kNotFound;
}

// Takes the prefix for a job, once: kForbidden when it is another one's (rule 1).
Result<void> claim_prefix(Store& store, const Owner& owner, const StoreCall& call);
// nullopt: the prefix has no owner.
Result<std::optional<Owner>> find_owner(Store& store, const StoreCall& call);
// The owner of a prefix, in words for users of `job` ("namespace/name"): a name only if it is in
// the same namespace, and never a UID.
std::string owner_in_words(const Owner& owner, std::string_view job);
// kForbidden when another job owns the prefix; a prefix without an owner is fine.
Result<void> check_not_taken(Store& store, const Owner& owner, const StoreCall& call);
// kForbidden unless the owner record is there and has this UID.
Result<void> check_owner(Store& store, std::string_view job_uid, const StoreCall& call);

// Newest first.
Result<std::vector<std::int64_t>> fetch_steps(Store& store, const StoreCall& call);
Result<ReadManifest> fetch_manifest(Store& store, std::int64_t step, const StoreCall& call);

struct Checkpoint {
  ReadManifest manifest = {};
  std::vector<ReadReceipt> receipts = {};  // by rank
  std::int64_t step() const { return manifest.manifest.step; }
};
// The receipts that the manifest names, checked against it.
Result<Checkpoint> fetch_receipts(Store& store, ReadManifest manifest, const StoreCall& call);

// A checkpoint and what its deltas stand on, nearest first; all of it belongs together.
using Chain = std::vector<Checkpoint>;
Result<Chain> fetch_chain(Store& store, std::int64_t step, const StoreCall& call);

struct Newest {
  Chain chain = {};  // empty: there is none
  std::vector<PassedOver> passed_over = {};
};
// The newest before `before` whose records are sound. One that is damaged is passed over, with the
// reason; a store that does not answer is an error, for an older checkpoint would lose work.
Result<Newest> fetch_newest(Store& store, const StoreCall& call,
                            std::int64_t before = std::numeric_limits<std::int64_t>::max());

// Blobs that a rank of the newest committed checkpoint refers to: those may be used again (rule 8).
Result<std::set<std::string>> fetch_newest_blobs(Store& store, std::int32_t rank,
                                                 const StoreCall& call);

}  // namespace amdahl::checkpoint
