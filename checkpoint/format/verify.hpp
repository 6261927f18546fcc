// Whether the parts of a checkpoint belong together: a manifest, the receipts of all ranks, and the
// checkpoints that its deltas stand on. Objects' bytes are verifier.hpp's.
//
// Pure; thread any. Failure: Errc::kInvalid or kCorrupt, with the rank and the tensor.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/receipt.hpp"

namespace amdahl::checkpoint {

// What a coordinator makes of receipts, in the order of ranks. The rest of the manifest is its own
// to fill in.
void refer_to(std::span<const ReadReceipt> receipts, Manifest& manifest);

// Every rank once, receipts the very ones, tensors complete: all elements once, states refer to
// tensors that are there, and a signed manifest has strong digests everywhere.
Result<void> verify_manifest(const ReadManifest& manifest, std::span<const ReadReceipt> receipts);

// Whether `parent` is the one that `manifest` names, and the length of the chain is right. A chain
// is checked link by link; it ends, because steps fall and its length is bounded.
Result<void> verify_parent(const Manifest& manifest, const ReadManifest& parent);
// Whether the parent has every shard that a delta is against. Both were verified by themselves.
Result<void> verify_bases(std::span<const ReadReceipt> receipts,
                          std::span<const ReadReceipt> parent_receipts);

}  // namespace amdahl::checkpoint
