// The thread of an engine that writes, commits and collects.
#include <algorithm>
#include <utility>

#include "checkpoint/engine/engine.hpp"
#include "checkpoint/format/document.hpp"
#include "checkpoint/format/strict_json.hpp"

namespace amdahl::checkpoint {
namespace {

// Another try, under another save id, may fare better.
bool worth_retrying(Errc code) {
  return code == Errc::kIo || code == Errc::kUnavailable || code == Errc::kThrottled ||
         code == Errc::kCorrupt || code == Errc::kAlreadyExists || code == Errc::kNotFound;
}

}  // namespace

void Engine::run(const std::stop_token& stop) {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return !queue_.empty(); })) return;
      job = std::move(queue_.front());
      queue_.pop_front();
      working_ = true;
    }
    const std::int64_t bytes = job.plan->tensor_bytes;
    Result<void> done =
        finish(job, {.deadline = clock_.monotonic() + options_.save_deadline, .stop = stop});
    job = {};  // its memory is free before anybody is told
    {
      const std::scoped_lock lock(mutex_);
      working_ = false;
      status_.queued_bytes -= bytes;
      newest_error_.reset();
      if (!done) {
        ++status_.failures;
        status_.last_error = done.error().context;
        newest_error_ = std::move(done).error();
      }
    }
    changed_.notify_all();
  }
}

Result<SnapshotRecord> Engine::record_for(const Job& job) const {
  SnapshotRecord record = record_of(*job.plan, job.sums, job.lease.begin());
  for (const auto& [object, blob] : job.stored) {
    record.objects[object].role = SnapshotRole::kStored;
    record.objects[object].record.name = blob.name;
  }
  record.step = job.step;
  record.metrics = job.metrics;
  if (!job.state.empty()) {
    TRY(record.state, parse_strict(job.state, kDocumentDepthMax));
  }
  return record;
}

Result<Checkpoint> Engine::await_manifest(const SaveKey& save, const StoreCall& call) {
  std::chrono::nanoseconds pause = kReceiptPollMin;
  for (;;) {
    auto found = fetch_manifest(store_, save.step, call);
    if (found && found->manifest.save_id == save.save_id)
      return Checkpoint{.manifest = *std::move(found)};
    if (found)
      return fail(Errc::kConflict, "step {} was committed by save {}", save.step,
                  found->manifest.save_id);
    if (found.error().code != Errc::kNotFound)
      return std::unexpected<Error>(std::move(found).error());
    if (clock_.monotonic() + pause > call.deadline)
      return fail(Errc::kTimeout, "step {} was not committed in time by rank 0", save.step);
    if (!waiter_.wait(pause, call.stop)) return fail(Errc::kCancelled, "step {}", save.step);
    pause = std::min<std::chrono::nanoseconds>(2 * pause, kReceiptPollMax);
  }
}

Result<Checkpoint> Engine::write(const EncodedSnapshot& encoded, const Job& job, int try_number,
                                 const StoreCall& call) {
  const RankIdentity& who = options_.who;
  const SaveKey key{.step = job.step, .save_id = save_id(who.attempt, job.step, try_number)};
  const Monotonic begin = clock_.monotonic();
  TRY(const SavedRank saved,
      saver_.save({.record = encoded.record, .bytes = encoded.bytes, .save_id = key.save_id},
                  call));
  const Monotonic uploaded = clock_.monotonic();
  CommitJob commit{.job_uid = who.job_uid,
                   .save = key,
                   .world_size = who.world_size,
                   .metrics = job.metrics,
                   .image_digest = options_.image_digest};
  if (encoded.has_deltas) commit.parent = base_->job.step;
  TRY(Checkpoint made, who.rank == 0 ? committer_.commit(commit, call) : await_manifest(key, call));
  const std::scoped_lock lock(mutex_);
  status_.last = {.state_bytes = job.plan->tensor_bytes,
                  .uploaded_bytes = saved.uploaded_bytes,
                  .snapshot = job.copied_in,
                  .upload = uploaded - begin,
                  .commit = clock_.monotonic() - uploaded};
  status_.rates = updated(status_.rates, status_.last);
  confirmed_ = {.plan = job.plan};
  for (std::size_t i = 0; i < job.plan->objects.size(); ++i)
    if (job.plan->objects[i].blob)
      for (const ObjectRecord& object : saved.receipt.objects)
        if (object.root == encoded.record.objects[i].record.root &&
            object.name.starts_with("blobs/"))
          confirmed_.blobs[i] = {.name = object.name, .sums = job.sums[i]};
  return made;
}

void Engine::committed(Job& job, const SnapshotRecord& record, bool has_deltas,
                       const Checkpoint& made) {
  const std::int32_t chain = has_deltas ? base_->chain + 1 : 0;
  base_.reset();
  {
    const std::scoped_lock lock(mutex_);
    ++status_.commits;
    status_.committed_step = job.step;
    status_.committed_sha256 = made.manifest.sha256;
    status_.committed_bytes = made.manifest.manifest.bytes;
  }
  if (!options_.deltas) return;
  std::vector<Bytes> bytes = bytes_in_arena(job);
  base_ = Base{.job = std::move(job), .record = record, .bytes = std::move(bytes), .chain = chain};
}

std::vector<Bytes> Engine::bytes_in_arena(const Job& job) const {
  std::vector<Bytes> bytes(job.plan->objects.size());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (!job.stored.contains(i))
      bytes[i] = job.lease.memory().subspan(static_cast<std::size_t>(job.plan->objects[i].begin),
                                            static_cast<std::size_t>(job.sums[i].bytes));
  return bytes;
}

Result<void> Engine::finish(Job& job, const StoreCall& call) {
  TRY(const SnapshotRecord record, record_for(job));
  const std::vector<Bytes> bytes = bytes_in_arena(job);
  const int tries =
      options_.who.world_size == 1 ? std::clamp(options_.save_tries, 1, kTriesMax) : 1;
  for (int number = 0;; ++number) {
    EncodedSnapshot encoded{.record = record, .bytes = bytes};
    if (options_.planes || options_.deltas) {
      const bool delta = base_ && base_->chain + 1 < options_.full_every;
      TRY(encoded,
          encode_snapshot(record, bytes,
                          delta ? BaseTensors(base_->record, base_->bytes) : BaseTensors()));
    }
    auto made = write(encoded, job, number, call);
    if (!made && made.error().code == Errc::kConflict) made = own_earlier_try(job.step, made, call);
    if (made) {
      const std::int64_t step = job.step;
      committed(job, record, encoded.has_deltas, *made);
      if (options_.who.rank == 0) collect(step, call);
      return {};
    }
    base_.reset();  // it may be what was wrong
    {
      const std::scoped_lock lock(mutex_);
      if (made.error().code == Errc::kGone) confirmed_ = {};
      const bool again = worth_retrying(made.error().code) || encoded.has_deltas;
      if (number + 1 == tries || !again)
        return wrap(std::move(made).error(), "save step {}", job.step);
      ++status_.retries;
    }
  }
}

// A try that seemed to have failed may have been committed after all: its bytes are the same.
Result<Checkpoint> Engine::own_earlier_try(std::int64_t step, Result<Checkpoint> conflict,
                                           const StoreCall& call) {
  auto found = fetch_manifest(store_, step, call);
  if (!found ||
      !is_save_of(options_.who.attempt, {.step = step, .save_id = found->manifest.save_id}))
    return conflict;
  return Checkpoint{.manifest = *std::move(found)};
}

void Engine::collect(std::int64_t step, const StoreCall& call) {
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
