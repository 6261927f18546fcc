// The newest sound checkpoint of a store, as far as its records tell: manifests, receipts, and the
// sizes of the objects that they name. No tensor is read.
//
// Stores are the tenants', so memory is bounded whatever they hold: kLookBytesMax for the records
// of a look, kLooksBytesMax for those of all looks, and names of objects beside them. Records that
// are larger are an error and no damage: the job goes on, and its checkpoint is not verified.
//
// Thread: any; blocks. Failure: the store cannot be read, or its records exceed a limit. Damage is
// a finding, and so is that the prefix is another job's.
#pragma once

#include "checkpoint/engine/catalog.hpp"
#include "checkpoint/engine/glance.hpp"
#include "operator/training/checkpoint_look.hpp"

namespace amdahl {

inline constexpr std::size_t kLookBytesMax = std::size_t{12} << 20U;
inline constexpr std::size_t kLooksBytesMax = 2 * kLookBytesMax;
// Of a checkpoint with more objects not all are sized.
inline constexpr std::size_t kLookNamesBytesMax = std::size_t{3} << 20U;

struct FindOptions {
  std::string_view job_uid = {};
  std::string_view job = {};  // namespace/name
  // A prefix without a trace of the job is an empty store, and not a folder of another machine.
  bool may_be_empty = true;
};
// `budget` is that of this look.
Result<training::CheckpointFinding> find_checkpoint(checkpoint::Store& store,
                                                    const FindOptions& options,
                                                    checkpoint::ReadBudget& budget,
                                                    const checkpoint::StoreCall& call);

}  // namespace amdahl
