// The newest sound checkpoint of a store, as far as its records tell: manifests, receipts, and the
// sizes of the objects that they name. No tensor is read.
//
// Thread: any; blocks. Failure: the store cannot be read, or the prefix is another job's. Damage is
// a finding.
#pragma once

#include "checkpoint/engine/catalog.hpp"
#include "operator/training/checkpoint_look.hpp"

namespace amdahl {

// Of a checkpoint with more objects only the records are read: each listed page is a request.
inline constexpr std::size_t kObjectsSizedMax = 100'000;

struct FindOptions {
  std::string_view job_uid = {};
  // A prefix without a trace of the job is an empty store, and not a folder of another machine.
  bool may_be_empty = true;
};
Result<training::CheckpointFinding> find_checkpoint(checkpoint::Store& store,
                                                    const FindOptions& options,
                                                    const checkpoint::StoreCall& call);

}  // namespace amdahl
