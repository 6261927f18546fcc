#include "checkpoint/engine/snapshot_writer.hpp"

#include <algorithm>
#include <utility>

#include "checkpoint/engine/later_saves.hpp"
#include "checkpoint/engine/signing.hpp"

namespace amdahl::checkpoint {
namespace {

// Another try, under another save id, may fare better.
bool worth_retrying(Errc code) {
  return code == Errc::kIo || code == Errc::kUnavailable || code == Errc::kThrottled ||
         code == Errc::kCorrupt || code == Errc::kAlreadyExists || code == Errc::kNotFound;
}

// A snapshot's blobs are found in the receipt by their roots: an object that was tried again has
// another name.
NamedBlobs blobs_of(const SnapshotRecord& record, const Receipt& receipt) {
  NamedBlobs blobs;
  for (std::size_t i = 0; i < record.objects.size(); ++i) {
    if (record.objects[i].role == SnapshotRole::kData) continue;
    for (const ObjectRecord& object : receipt.objects)
      if (object.root == record.objects[i].record.root && object.name.starts_with("blobs/"))
        blobs[i] = object.name;
  }
  return blobs;
}

std::int64_t tensor_bytes(const SnapshotRecord& record) {
  std::int64_t bytes = 0;
  for (const TensorRecord& tensor : record.tensors) bytes += tensor.end - tensor.begin;
  return bytes;
}

}  // namespace

std::vector<Bytes> bytes_in(Bytes arena, const SnapshotRecord& record) {
  std::vector<Bytes> bytes(record.objects.size());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (record.objects[i].role != SnapshotRole::kStored)
      bytes[i] = arena.subspan(static_cast<std::size_t>(record.objects[i].begin),
                               static_cast<std::size_t>(record.objects[i].record.bytes));
  return bytes;
}

SnapshotWriter::SnapshotWriter(Store& store, Clock& clock, Waiter& waiter,
                               const EngineOptions& options)
    : store_(store),
      clock_(clock),
      waiter_(waiter),
      options_(options),
      opened_at_(clock.wall()),
      saver_(store, clock, options.who, options.upload_threads),
      committer_(store, clock, waiter),
      collector_(store, options.who.job_uid) {}

WriteStatus SnapshotWriter::status() const {
  const std::scoped_lock lock(mutex_);
  return status_;
}

void SnapshotWriter::go_on_from(const WriteStatus& status) {
  const std::scoped_lock lock(mutex_);
  status_ = status;
}

Result<NamedBlobs> SnapshotWriter::write(const TakenSnapshot& snapshot, const StoreCall& call) {
  auto done = finish(snapshot, call);
  if (done) return done;
  const std::scoped_lock lock(mutex_);
  ++status_.failures;
  status_.last_error = done.error().context;
  return done;
}

Result<Checkpoint> SnapshotWriter::await_manifest(const SaveKey& save, const StoreCall& call) {
  std::chrono::nanoseconds pause = kReceiptPollMin;
  // Another manifest of this step may be a damaged one, which rank 0 is about to replace.
  const Monotonic patience = std::min(call.deadline, clock_.monotonic() + kReplaceMax);
  LaterSaves later(store_, clock_, options_.who.attempt, save);
  std::optional<WentOn> over;
  for (;;) {
    auto found = fetch_manifest(store_, save.step, call);
    if (found && found->manifest.save_id == save.save_id)
      return Checkpoint{.manifest = *std::move(found)};
    const bool waits = !over && clock_.monotonic() + pause <= patience;
    if (found && !waits)
      return fail(Errc::kConflict, "step {} was committed by save {}", save.step,
                  found->manifest.save_id);
    if (!found && found.error().code != Errc::kNotFound &&
        !(waits && is_damage(found.error().code)))
      return std::unexpected<Error>(std::move(found).error());
    if (over) return fail(Errc::kConflict, "given up: {}", describe(*over));
    if (clock_.monotonic() + pause > call.deadline)
      return fail(Errc::kTimeout, "step {} was not committed in time by rank 0", save.step);
    over = later.look_for_commit(options_.who.world_size, call);
    if (over) continue;  // it may have been committed between the two looks
    if (!waiter_.wait(pause, call.stop)) return fail(Errc::kCancelled, "step {}", save.step);
    pause = longer(pause);
  }
}

Result<SnapshotWriter::Made> SnapshotWriter::attempt(const EncodedSnapshot& encoded,
                                                     const TakenSnapshot& snapshot, int try_number,
                                                     const StoreCall& call) {
  const RankIdentity& who = options_.who;
  const std::int64_t step = snapshot.record.step;
  const SaveKey key{.step = step, .save_id = save_id(who.attempt, step, try_number)};
  const Monotonic begin = clock_.monotonic();
  TRY(const SavedRank saved,
      saver_.save({.record = encoded.record, .bytes = encoded.bytes, .save_id = key.save_id},
                  call));
  const Monotonic uploaded = clock_.monotonic();
  CommitJob commit{.job_uid = who.job_uid,
                   .attempt = who.attempt,
                   .save = key,
                   .world_size = who.world_size,
                   .metrics = snapshot.record.metrics,
                   .image_digest = options_.image_digest,
                   .signer = signer_};
  if (encoded.has_deltas) commit.parent = base_->snapshot.record.step;
  Made made;
  TRY(made.checkpoint, who.rank == 0 ? committer_.commit(commit, call) : await_manifest(key, call));
  made.blobs = blobs_of(encoded.record, saved.receipt);
  const std::scoped_lock lock(mutex_);
  status_.last = {.state_bytes = tensor_bytes(snapshot.record),
                  .uploaded_bytes = saved.uploaded_bytes,
                  .snapshot = snapshot.copied_in,
                  .upload = uploaded - begin,
                  .commit = clock_.monotonic() - uploaded};
  status_.rates = updated(status_.rates, status_.last);
  return made;
}

void SnapshotWriter::committed(const TakenSnapshot& snapshot, bool has_deltas,
                               const Checkpoint& made) {
  const std::int32_t chain = has_deltas ? base_->chain + 1 : 0;
  base_.reset();
  {
    const std::scoped_lock lock(mutex_);
    ++status_.commits;
    status_.committed_step = snapshot.record.step;
    status_.committed_sha256 = made.manifest.sha256;
    status_.committed_bytes = made.manifest.manifest.bytes;
  }
  if (options_.deltas) base_ = Base{.snapshot = snapshot, .chain = chain};
}

Result<EncodedSnapshot> SnapshotWriter::encoded(const TakenSnapshot& snapshot) const {
  EncodedSnapshot encoded{.record = snapshot.record, .bytes = snapshot.bytes};
  if (options_.planes || options_.deltas) {
    const bool delta = base_ && base_->chain + 1 < options_.full_every;
    TRY(encoded, encode_snapshot(snapshot.record, snapshot.bytes,
                                 delta ? BaseTensors(base_->snapshot.record, base_->snapshot.bytes)
                                       : BaseTensors()));
  }
  if (options_.sums_for_signature())
    return with_sha256(std::move(encoded), options_.upload_threads);
  return encoded;
}

// A key that cannot be read makes the save fail: unsigned is not what was asked for.
Result<void> SnapshotWriter::need_signer() {
  if (options_.signing_key_file.empty() || signer_ || options_.who.rank != 0) return {};
  TRY(signer_, read_private_key(options_.signing_key_file));
  return {};
}

Result<NamedBlobs> SnapshotWriter::finish(const TakenSnapshot& snapshot, const StoreCall& call) {
  const std::int64_t step = snapshot.record.step;
  TRY(need_signer());
  const int tries =
      options_.who.world_size == 1 ? std::clamp(options_.save_tries, 1, kTriesMax) : 1;
  for (int number = 0;; ++number) {
    TRY(const EncodedSnapshot what, encoded(snapshot));
    auto made = attempt(what, snapshot, number, call);
    if (!made && made.error().code == Errc::kConflict)
      made = own_earlier_try(step, std::move(made), call);
    if (made) {
      committed(snapshot, what.has_deltas, made->checkpoint);
      if (options_.who.rank == 0) to_clean_up_ = step;
      return std::move(made->blobs);
    }
    base_.reset();  // it may be what was wrong
    const bool again = worth_retrying(made.error().code) || what.has_deltas;
    if (number + 1 == tries || !again) return wrap(std::move(made).error(), "save step {}", step);
    const std::scoped_lock lock(mutex_);
    ++status_.retries;
  }
}

// A try that seemed to have failed may have been committed after all: its bytes are the same.
Result<SnapshotWriter::Made> SnapshotWriter::own_earlier_try(std::int64_t step,
                                                             Result<Made> conflict,
                                                             const StoreCall& call) {
  auto found = fetch_manifest(store_, step, call);
  if (!found ||
      !is_save_of(options_.who.attempt, {.step = step, .save_id = found->manifest.save_id}))
    return conflict;
  return Made{.checkpoint = {.manifest = *std::move(found)}};
}

void SnapshotWriter::clean_up(const StoreCall& call) {
  if (!to_clean_up_) return;
  const std::int64_t step = *std::exchange(to_clean_up_, std::nullopt);
  const bool sole = options_.alone && options_.who.world_size == 1;
  const auto age = std::chrono::duration_cast<std::chrono::microseconds>(options_.leftovers_age);
  auto collected = collector_.collect(
      {.policy = options_.retention,
       .saves = {.attempt = options_.who.attempt, .committed_step = step, .alone = options_.alone},
       .leftovers_before = sole ? opened_at_ : opened_at_ - age,
       .threads = options_.upload_threads},
      call);
  const std::scoped_lock lock(mutex_);
  status_.collect_error = collected ? "" : collected.error().context;
  if (!collected) return;
  status_.checkpoints_kept = static_cast<std::int64_t>(collected->plan.kept.size());
  status_.objects_removed += collected->removed + collected->leftovers;
  status_.damaged = static_cast<std::int64_t>(collected->damaged.size());
}

}  // namespace amdahl::checkpoint
