#include "checkpoint/format/verify.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "checkpoint/format/state.hpp"
#include "checkpoint/format/strict_json.hpp"

namespace amdahl::checkpoint {
namespace {

Result<void> check_rank(const ReadManifest& read, const ReadReceipt& found, std::size_t rank) {
  const Manifest& manifest = read.manifest;
  const Receipt& receipt = found.receipt;
  const ReceiptReference& wanted = manifest.receipts[rank];
  if (found.bytes != wanted.bytes || found.sha256 != wanted.sha256)
    return fail(Errc::kCorrupt, "{} bytes with SHA-256 {}, the manifest says {} bytes and {}",
                found.bytes, found.sha256, wanted.bytes, wanted.sha256);
  if (receipt.step != manifest.step || receipt.save_id != manifest.save_id ||
      receipt.job_uid != manifest.job_uid)
    return fail(Errc::kInvalid, "of another job, step or save");
  if (!std::cmp_equal(receipt.rank, rank) ||
      !std::cmp_equal(receipt.world_size, manifest.receipts.size()))
    return fail(Errc::kInvalid, "of rank {} of {}", receipt.rank, receipt.world_size);
  if (receipt.root != wanted.root) return fail(Errc::kInvalid, "its root is another");
  for (const ObjectRecord& object : receipt.objects)
    if (read.signature && object.sha256.empty())
      return fail(Errc::kInvalid, "object {}: no SHA-256, so the signature does not bind it",
                  object.name);
  for (const TensorRecord& tensor : receipt.tensors)
    if (needs_base(tensor.encoding) && !manifest.parent)
      return fail(Errc::kInvalid, "tensor {}: a delta, and no parent", shown(tensor.name));
  return {};
}

Result<void> check_ranks(const ReadManifest& read, std::span<const ReadReceipt> receipts) {
  const std::size_t ranks = read.manifest.receipts.size();
  if (receipts.size() != ranks)
    return fail(Errc::kInvalid, "{} receipts for {} ranks", receipts.size(), ranks);
  std::int64_t bytes = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    auto ok = check_rank(read, receipts[rank], rank);
    if (!ok) return wrap(std::move(ok).error(), "receipt of rank {}", rank);
    for (const ObjectRecord& object : receipts[rank].receipt.objects) {
      bytes += object.bytes;
      if (bytes > kTotalBytesMax) return fail(Errc::kTooLarge, "bytes: more than are possible");
    }
  }
  if (bytes != read.manifest.bytes)
    return fail(Errc::kInvalid, "bytes: {}, the objects have {}", read.manifest.bytes, bytes);
  return {};
}

const Shape& whole_shape(const TensorRecord& tensor) {
  return tensor.global_shape.empty() ? tensor.shape : tensor.global_shape;
}

// All parts of one tensor, next to each other.
Result<void> check_whole(std::span<const TensorRecord* const> parts) {
  const TensorRecord& first = *parts[0];
  const Shape& whole = whole_shape(first);
  const Shape origin(whole.size(), 0);
  std::vector<Shard> shards;
  for (const TensorRecord* part : parts) {
    if (part->dtype != first.dtype || whole_shape(*part) != whole)
      return fail(Errc::kInvalid, "tensor {}: its parts differ in dtype or whole shape",
                  shown(first.name));
    shards.push_back(
        {.offset = part->offset.empty() ? origin : part->offset, .shape = part->shape});
  }
  auto ok = check_partition(whole, shards);
  if (!ok) return wrap(std::move(ok).error(), "tensor {}", shown(first.name));
  return {};
}

std::vector<const TensorRecord*> tensors_by_name(std::span<const ReadReceipt> receipts) {
  std::vector<const TensorRecord*> tensors;
  for (const ReadReceipt& read : receipts)
    for (const TensorRecord& tensor : read.receipt.tensors) tensors.push_back(&tensor);
  std::ranges::sort(tensors, {}, [](const TensorRecord* t) { return std::tie(t->name); });
  return tensors;
}

Result<void> check_tensors(std::span<const ReadReceipt> receipts) {
  const std::vector<const TensorRecord*> tensors = tensors_by_name(receipts);
  for (std::size_t from = 0, to = 0; from < tensors.size(); from = to) {
    while (to < tensors.size() && tensors[to]->name == tensors[from]->name) ++to;
    TRY(check_whole(std::span(tensors).subspan(from, to - from)));
  }
  for (std::size_t rank = 0; rank < receipts.size(); ++rank) {
    TRY(const auto named, check_state(receipts[rank].receipt.state));
    for (const std::string& name : named) {
      const auto by_name = [](const TensorRecord* t) -> const std::string& { return t->name; };
      if (!std::ranges::binary_search(tensors, name, {}, by_name))
        return fail(Errc::kInvalid, "state of rank {}: no tensor {}", rank, shown(name));
    }
  }
  return {};
}

}  // namespace

void refer_to(std::span<const ReadReceipt> receipts, Manifest& manifest) {
  manifest.receipts.clear();
  manifest.bytes = 0;
  for (const ReadReceipt& read : receipts) {
    manifest.receipts.push_back(
        {.bytes = read.bytes, .sha256 = read.sha256, .root = read.receipt.root});
    for (const ObjectRecord& object : read.receipt.objects) manifest.bytes += object.bytes;
  }
  manifest.root = checkpoint_root(manifest.receipts);
}

Result<void> verify_manifest(const ReadManifest& manifest, std::span<const ReadReceipt> receipts) {
  const auto verify = [&]() -> Result<void> {
    TRY(check_ranks(manifest, receipts));
    return check_tensors(receipts);
  };
  auto ok = verify();
  if (!ok) return wrap(std::move(ok).error(), "manifest of step {}", manifest.manifest.step);
  return {};
}

Result<void> verify_parent(const Manifest& manifest, const ReadManifest& parent) {
  const auto bad = [&](std::string_view what) {
    return fail(Errc::kInvalid, "manifest of step {}: {}", manifest.step, what);
  };
  if (!manifest.parent) return bad("it has no parent");
  if (manifest.parent->step >= manifest.step) return bad("its parent is not before it");
  if (manifest.parent->step != parent.manifest.step || manifest.parent->sha256 != parent.sha256 ||
      manifest.job_uid != parent.manifest.job_uid)
    return bad(fmt::format("the manifest of step {} is not its parent", parent.manifest.step));
  const std::int32_t behind = parent.manifest.parent ? parent.manifest.parent->chain : 0;
  if (manifest.parent->chain != behind + 1)
    return bad(fmt::format("a chain of {}, its parent has {}", manifest.parent->chain, behind));
  return {};
}

Result<void> verify_bases(std::span<const ReadReceipt> receipts,
                          std::span<const ReadReceipt> parent_receipts) {
  const auto key = [](const TensorRecord* t) {
    return std::tie(t->name, t->dtype, t->shape, t->global_shape, t->offset);
  };
  auto bases = tensors_by_name(parent_receipts);
  std::ranges::sort(bases, {}, key);
  for (const ReadReceipt& read : receipts)
    for (const TensorRecord& tensor : read.receipt.tensors)
      if (needs_base(tensor.encoding) && !std::ranges::binary_search(bases, key(&tensor), {}, key))
        return fail(Errc::kInvalid, "tensor {} of rank {}: the parent has no such part",
                    shown(tensor.name), read.receipt.rank);
  return {};
}

}  // namespace amdahl::checkpoint
