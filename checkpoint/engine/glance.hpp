// A checkpoint as its records tell, for a process that looks at stores of many jobs and trusts
// none of them: what it holds at once is bounded, whatever the store contains.
//
// Sizes are compared before anything is read, digests before anything is parsed, and of receipts
// only the names and sizes of objects are kept. That tensors are complete is for the loader to
// check (catalog.hpp). Thread: any; blocks. Failure: as of catalog.hpp for damage; kThrottled for
// records that are larger than the budget, of which nothing is known then.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/function_ref.hpp"
#include "checkpoint/engine/read_budget.hpp"
#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

// What reading a manifest takes for each byte of its text: a tree, the values, the tree again.
inline constexpr std::size_t kManifestMemoryFactor = 12;
inline constexpr std::size_t kGlancePagesMax = 2'000;  // of one listing

struct Glance {
  std::int64_t step = 0;
  std::string sha256 = {};  // of the manifest's text, hexadecimal
  std::int64_t bytes = 0;
  WallTime committed_at = {};
  // Of the step and of what its deltas stand on, by name.
  std::vector<StoredObject> objects = {};
  bool all_named = true;  // else they are more than may be kept, and some are not in `objects`
};

struct GlanceOptions {
  ReadBudget& budget;
  std::size_t names_bytes_max = 0;  // memory for `objects`
};
Result<Glance> glance_at(Store& store, std::int64_t step, const GlanceOptions& options,
                         const StoreCall& call);

// The newest steps with a manifest, newest first; of a longer listing no more than `count` are
// kept.
Result<std::vector<std::int64_t>> newest_steps(Store& store, std::size_t count,
                                               const StoreCall& call);

// One object after another, in any order; some may come twice. No page outlives the next.
using OnObject = function_ref<void(const StoredObject& object)>;
Result<void> list_each(Store& store, std::string_view prefix, OnObject on_object,
                       const StoreCall& call);

}  // namespace amdahl::checkpoint
