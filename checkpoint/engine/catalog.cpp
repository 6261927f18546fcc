#include "checkpoint/engine/catalog.hpp"

#include <algorithm>
#include <utility>

#include "checkpoint/engine/workers.hpp"
#include "checkpoint/format/digest.hpp"
#include "checkpoint/format/strict_json.hpp"
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
  const ReceiptReference& wanted = manifest.receipts[rank];
  TRY(const std::string text, read_whole(store, name, kReceiptBytesMax, call));
  // Before it is parsed, which takes many times its size.
  if (std::cmp_not_equal(text.size(), wanted.bytes) || hex(sha256(text)) != wanted.sha256)
    return fail(Errc::kCorrupt, "receipt {} is not the one that its manifest names", shown(name));
  return read_receipt(name, text);
}

Result<Owner> fetch_owner(Store& store, const StoreCall& call) {
  TRY(const std::string text, read_whole(store, kOwnerName, kOwnerBytesMax, call));
  return read_owner(text);
}

std::unexpected<Error> not_ours(const Store& store, const Owner& owner, std::string_view job) {
  return fail(Errc::kForbidden,
              "{} belongs to {}: set checkpoint.uri to a prefix that no other job uses; to start "
              "from the checkpoints there, set checkpoint.initFrom",
              store.describe(), owner_in_words(owner, job));
}

// NAMESPACE/NAME, each as Kubernetes has it. A store may hold any text there.
bool is_job_name(std::string_view text) {
  const auto known = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/';
  };
  return text.find('/') != text.npos && std::ranges::all_of(text, known);
}

}  // namespace

std::string owner_in_words(const Owner& owner, std::string_view job) {
  const std::string_view its = owner.job;
  if (is_job_name(its) && its == job)
    return fmt::format("an earlier TrainingJob with the name {}, which was deleted", job);
  const std::string_view space = job.substr(0, job.find('/') + 1);
  if (is_job_name(its) && !space.empty() && its.starts_with(space))
    return fmt::format("TrainingJob {}", its);
  return "another job";
}

Result<std::optional<Owner>> find_owner(Store& store, const StoreCall& call) {
  auto found = fetch_owner(store, call);
  if (found) return std::optional(*std::move(found));
  if (found.error().code == Errc::kNotFound) return std::optional<Owner>();
  return wrap(std::move(found).error(), "owner of {}", store.describe());
}

Result<void> check_not_taken(Store& store, const Owner& owner, const StoreCall& call) {
  TRY(const auto found, find_owner(store, call));
  if (found && found->job_uid != owner.job_uid) return not_ours(store, *found, owner.job);
  return {};
}

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
  if (found->job_uid != owner.job_uid) return not_ours(store, *found, owner.job);
  return {};
}

Result<void> check_owner(Store& store, std::string_view job_uid, const StoreCall& call) {
  auto found = fetch_owner(store, call);
  if (!found && is_damage(found.error().code))
    return fail(Errc::kForbidden, "{}: whose prefix it is cannot be read: {}", store.describe(),
                found.error().context);
  if (!found) return std::unexpected<Error>(std::move(found).error());
  if (found->job_uid != job_uid) return not_ours(store, *found, "");
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
