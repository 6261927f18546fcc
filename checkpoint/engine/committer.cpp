#include "checkpoint/engine/committer.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "checkpoint/engine/later_saves.hpp"
#include "checkpoint/engine/scrub.hpp"
#include "checkpoint/engine/workers.hpp"
#include "checkpoint/format/verify.hpp"

namespace amdahl::checkpoint {
namespace {

// The names of one save's objects of a kind begin like this.
std::string stem(ObjectKind kind, const SaveKey& save) {
  const std::string name = write_name({.kind = kind, .step = save.step, .save_id = save.save_id});
  return name.substr(0, name.find(save.save_id) + save.save_id.size() + 1);
}

std::string missing_ranks(const std::vector<bool>& there) {
  std::string text;
  int named = 0;
  for (std::size_t rank = 0; rank < there.size(); ++rank) {
    if (there[rank]) continue;
    if (++named > 8) return text + ", ...";
    text += (text.empty() ? "" : ", ") + std::to_string(rank);
  }
  return text;
}

bool is_torn(Errc code) {
  return code == Errc::kCorrupt || code == Errc::kNotFound;
}
bool is_absent(const Result<ReadManifest>& found) {
  return !found && found.error().code == Errc::kNotFound;
}

Result<std::string> manifest_text(const Manifest& manifest, const CommitJob& job) {
  if (job.signer) return write_signed_manifest(manifest, *job.signer);
  return write_manifest(manifest);
}

}  // namespace

Result<void> Committer::await_receipts(const CommitJob& job, const StoreCall& call) {
  std::chrono::nanoseconds pause = kReceiptPollMin;
  std::vector<bool> there(static_cast<std::size_t>(job.world_size));
  LaterSaves later(store_, clock_, job.attempt, job.save);
  for (;;) {
    TRY(const auto listed, list_all(store_, stem(ObjectKind::kReceipt, job.save), call));
    there.assign(there.size(), false);
    for (const StoredObject& object : listed)
      if (const auto name = parse_name(object.name); name && name->rank < job.world_size)
        there[static_cast<std::size_t>(name->rank)] = true;
    if (std::ranges::all_of(there, std::identity())) return {};
    if (clock_.monotonic() + pause > call.deadline)
      return fail(Errc::kTimeout, "commit step {}: no receipt of rank {} of {}", job.save.step,
                  missing_ranks(there), job.world_size);
    if (const auto over = later.look(job.world_size, call))
      return fail(Errc::kConflict, "commit step {}: given up: {}", job.save.step, describe(*over));
    if (!waiter_.wait(pause, call.stop))
      return fail(Errc::kCancelled, "commit step {}: stopped", job.save.step);
    pause = longer(pause);
  }
}

// Receipts say that objects are there. A collector that was wrong, or a store that forgets, is
// found out here, when a commit can still be refused.
Result<void> Committer::check_objects(const Checkpoint& checkpoint, const StoreCall& call) {
  const Manifest& manifest = checkpoint.manifest.manifest;
  const SaveKey save{.step = manifest.step, .save_id = manifest.save_id};
  TRY(const auto listed, list_all(store_, stem(ObjectKind::kData, save), call));
  std::map<std::string_view, std::int64_t> sizes;
  for (const StoredObject& object : listed) sizes.emplace(object.name, object.bytes);
  for (const ReadReceipt& read : checkpoint.receipts)
    for (const ObjectRecord& object : read.receipt.objects) {
      auto found = sizes.find(object.name);
      if (found == sizes.end() && object.name.starts_with("blobs/")) {
        TRY(const std::int64_t bytes, store_.size(object.name, call));
        found = sizes.emplace(object.name, bytes).first;
      }
      if (found == sizes.end() || found->second != object.bytes)
        return fail(Errc::kCorrupt, "commit step {}: {} of rank {} is gone or has another size",
                    manifest.step, object.name, read.receipt.rank);
    }
  return {};
}

Result<std::vector<ReadReceipt>> Committer::read_receipts(const CommitJob& job,
                                                          const StoreCall& call) {
  std::vector<ReadReceipt> receipts(static_cast<std::size_t>(job.world_size));
  const int readers = job.world_size > 1 ? kReceiptReadersMax : 1;
  TRY(run_on_workers(receipts.size(), readers, [&](std::size_t rank) -> Result<void> {
    const std::string name = write_name({.kind = ObjectKind::kReceipt,
                                         .step = job.save.step,
                                         .save_id = job.save.save_id,
                                         .rank = static_cast<std::int32_t>(rank)});
    TRY(const std::string text, read_whole(store_, name, kReceiptBytesMax, call));
    TRY(receipts[rank], read_receipt(name, text));
    return {};
  }));
  return receipts;
}

Result<Checkpoint> Committer::prepare(const CommitJob& job, const StoreCall& call) {
  ReadManifest draft;
  Manifest& manifest = draft.manifest;
  manifest.job_uid = job.job_uid;
  manifest.step = job.save.step;
  manifest.save_id = job.save.save_id;
  manifest.committed_at = clock_.wall();
  manifest.image_digest = job.image_digest;
  manifest.metrics = job.metrics;
  Checkpoint checkpoint;
  TRY(checkpoint.receipts, read_receipts(job, call));
  refer_to(checkpoint.receipts, manifest);
  if (job.parent) {
    TRY(const Chain parents, fetch_chain(store_, *job.parent, call));
    const auto& before = parents[0].manifest;
    manifest.parent =
        Parent{.step = *job.parent,
               .sha256 = before.sha256,
               .chain = 1 + (before.manifest.parent ? before.manifest.parent->chain : 0)};
    TRY(verify_bases(checkpoint.receipts, parents[0].receipts));
  }
  TRY(const std::string text, manifest_text(manifest, job));
  TRY(checkpoint.manifest, read_manifest(manifest_name(job.save.step), text));
  TRY(verify_manifest(checkpoint.manifest, checkpoint.receipts));
  return checkpoint;
}

// Every byte of it is read: only what nobody can load may be replaced. What is not understood may
// be of a newer version of ours.
Result<bool> Committer::is_sound(std::int64_t step, const StoreCall& call) {
  const auto chain = fetch_chain(store_, step, call);
  if (!chain && is_torn(chain.error().code)) return false;
  if (!chain && is_damage(chain.error().code)) return true;
  if (!chain) return std::unexpected<Error>(chain.error());
  for (const Checkpoint& checkpoint : *chain) {
    TRY(const Scrubbed scrubbed, verify_objects(store_, checkpoint, kReceiptReadersMax, call));
    if (!scrubbed.bad.empty()) return false;
  }
  return true;
}

Result<ReadManifest> Committer::create(const CommitJob& job, const ReadManifest& manifest,
                                       const StoreCall& call) {
  const std::string name = manifest_name(job.save.step);
  TRY(const std::string text, manifest_text(manifest.manifest, job));
  const Bytes bytes = bytes_of(text);
  for (int turn = 1;; ++turn) {
    auto created = store_.create(name, {&bytes, 1}, call);
    if (created) return manifest;
    // Whatever went wrong, what is there now decides. Another committer of this very save may have
    // been first, at another time of day.
    auto found = fetch_manifest(store_, job.save.step, call);
    if (found && found->manifest.save_id == job.save.save_id) return found;
    const bool there = found || (is_damage(found.error().code) && !is_absent(found));
    bool sound = true;
    if (there) {
      TRY(sound, is_sound(job.save.step, call));
    }
    if (found && sound)
      return fail(Errc::kConflict, "commit step {}: save {} has committed it, this one is {}",
                  job.save.step, found->manifest.save_id, job.save.save_id);
    // A job that fell back behind a damaged checkpoint comes to its step again.
    if (!sound) {
      TRY(store_.remove(name, call));
    }
    const bool again = !sound || created.error().code == Errc::kIo ||
                       created.error().code == Errc::kUnavailable ||
                       created.error().code == Errc::kConflict;
    if (!again || turn == kManifestTriesMax)
      return std::unexpected<Error>(std::move(created).error());
  }
}

Result<Checkpoint> Committer::commit(const CommitJob& job, const StoreCall& call) {
  TRY(await_receipts(job, call));
  TRY(Checkpoint checkpoint, prepare(job, call));
  TRY(check_objects(checkpoint, call));
  TRY(checkpoint.manifest, create(job, checkpoint.manifest, call));
  // This process may have stood still since it looked, while somebody who took it for dead cleaned
  // up after it. Then this is no checkpoint, and must not stay.
  if (const auto lost = check_objects(checkpoint, call); !lost && is_damage(lost.error().code)) {
    TRY(store_.remove(manifest_name(job.save.step), call));
    return fail(Errc::kGone, "commit step {}: taken back: {}", job.save.step, lost.error().context);
  }
  return checkpoint;
}

}  // namespace amdahl::checkpoint
