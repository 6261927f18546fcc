#include "checkpoint/engine/catalog.hpp"

#include <algorithm>
#include <utility>

#include "checkpoint/engine/workers.hpp"
#include "checkpoint/format/verify.hpp"

namespace amdahl::checkpoint {
namespace {

const std::string kOwnerName = write_name({.kind = ObjectKind::kOwner});

std::string receipt_name_of(const Manifest& manifest, std::size_t rank) {
  return write_name({.kind = ObjectKind::kReceipt,
                     .step = manifest.step,
                     .save_id = manifest.save_id,
                     .rank = static_cast<std::int32_t>(rank)});
}

Result<ReadReceipt> fetch_receipt(Store& store, const Manifest& manifest, std::size_t rank,
                                  const StoreCall& call) {
  const std::string name = receipt_name_of(manifest, rank);
  TRY(const std::string text, read_whole(store, name, kReceiptBytesMax, call));
  return read_receipt(name, text);
}

Result<Owner> fetch_owner(Store& store, const StoreCall& call) {
  TRY(const std::string text, read_whole(store, kOwnerName, kOwnerBytesMax, call));
  return read_owner(text);
}

std::unexpected<Error> not_ours(const Store& store, const Owner& owner, std::string_view uid) {
  return fail(Errc::kForbidden,
              "{} belongs to job {} (UID {}), not to UID {}: give each job a prefix of its own",
              store.describe(), owner.job, owner.job_uid, uid);
}

}  // namespace

Result<void> claim_prefix(Store& store, const Owner& owner, const StoreCall& call) {
  auto found = fetch_owner(store, call);
  if (!found && found.error().code == Errc::kNotFound) {
    const std::string text = write_owner(owner);
    const Bytes bytes = bytes_of(text);
    auto created = store.create(kOwnerName, {&bytes, 1}, call);
    if (created) return {};
    // Another rank may have been first, or the answer was lost.
    found = fetch_owner(store, call);
    if (!found) return wrap(std::move(created).error(), "take the prefix");
  }
  if (!found) return wrap(std::move(found).error(), "owner of {}", store.describe());
  if (found->job_uid != owner.job_uid) return not_ours(store, *found, owner.job_uid);
  return {};
}

Result<void> check_owner(Store& store, std::string_view job_uid, const StoreCall& call) {
  auto found = fetch_owner(store, call);
  if (!found && is_damage(found.error().code))
    return fail(Errc::kForbidden, "{}: whose prefix it is cannot be read: {}", store.describe(),
                found.error().context);
  if (!found) return std::unexpected<Error>(std::move(found).error());
  if (found->job_uid != job_uid) return not_ours(store, *found, job_uid);
  return {};
}

Result<std::vector<std::int64_t>> fetch_steps(Store& store, const StoreCall& call) {
  TRY(const auto listed, list_all(store, "manifests/", call));
  std::vector<std::string> names;
  for (const StoredObject& object : listed) names.push_back(object.name);
  return committed_steps(names);
}

Result<ReadManifest> fetch_manifest(Store& store, std::int64_t step, const StoreCall& call) {
  const std::string name = manifest_name(step);
  TRY(const std::string text, read_whole(store, name, kManifestBytesMax, call));
  return read_manifest(name, text);
}

Result<Checkpoint> fetch_receipts(Store& store, ReadManifest manifest, const StoreCall& call) {
  Checkpoint checkpoint{.manifest = std::move(manifest)};
  const Manifest& wanted = checkpoint.manifest.manifest;
  checkpoint.receipts.resize(wanted.receipts.size());
  const int readers = wanted.receipts.size() > 1 ? kReceiptReadersMax : 1;
  TRY(run_on_workers(wanted.receipts.size(), readers, [&](std::size_t rank) -> Result<void> {
    TRY(checkpoint.receipts[rank], fetch_receipt(store, wanted, rank, call));
    return {};
  }));
  TRY(verify_manifest(checkpoint.manifest, checkpoint.receipts));
  return checkpoint;
}

Result<Chain> fetch_chain(Store& store, std::int64_t step, const StoreCall& call) {
  Chain chain;
  for (std::optional<std::int64_t> next = step; next;) {
    TRY(ReadManifest manifest, fetch_manifest(store, *next, call));
    if (!chain.empty()) TRY(verify_parent(chain.back().manifest.manifest, manifest));
    TRY(Checkpoint checkpoint, fetch_receipts(store, std::move(manifest), call));
    if (!chain.empty()) TRY(verify_bases(chain.back().receipts, checkpoint.receipts));
    const auto& parent = checkpoint.manifest.manifest.parent;
    next = parent ? std::optional(parent->step) : std::nullopt;
    chain.push_back(std::move(checkpoint));
  }
  return chain;
}

Result<Newest> fetch_newest(Store& store, const StoreCall& call, std::int64_t before) {
  TRY(const auto steps, fetch_steps(store, call));
  Newest newest;
  for (const std::int64_t step : steps) {
    if (step >= before) continue;
    auto chain = fetch_chain(store, step, call);
    if (chain) {
      newest.chain = *std::move(chain);
      return newest;
    }
    if (!is_damage(chain.error().code)) return wrap(std::move(chain).error(), "step {}", step);
    newest.passed_over.push_back({.step = step, .why = chain.error().context});
    if (newest.passed_over.size() > kFallbacksMax)
      return fail(Errc::kCorrupt, "{}: the newest {} checkpoints are damaged; the newest: {}",
                  store.describe(), newest.passed_over.size(), newest.passed_over[0].why);
  }
  return newest;
}

Result<std::set<std::string>> fetch_newest_blobs(Store& store, std::int32_t rank,
                                                 const StoreCall& call) {
  TRY(const auto steps, fetch_steps(store, call));
  const auto read = [&]() -> Result<std::set<std::string>> {
    std::set<std::string> blobs;
    if (steps.empty()) return blobs;
    TRY(const ReadManifest manifest, fetch_manifest(store, steps.front(), call));
    const auto index = static_cast<std::size_t>(rank);
    if (index >= manifest.manifest.receipts.size()) return blobs;
    TRY(const ReadReceipt found, fetch_receipt(store, manifest.manifest, index, call));
    if (found.sha256 != manifest.manifest.receipts[index].sha256) return blobs;
    for (const ObjectRecord& object : found.receipt.objects)
      if (object.name.starts_with("blobs/")) blobs.insert(object.name);
    return blobs;
  };
  auto blobs = read();
  // Nothing can be said of a newest checkpoint that is damaged, so nothing of it is used again.
  if (!blobs && is_damage(blobs.error().code)) return std::set<std::string>();
  return blobs;
}

}  // namespace amdahl::checkpoint
