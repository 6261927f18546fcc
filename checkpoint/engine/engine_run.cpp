// The thread of an engine that writes, or that hears of what the agent has written.
#include <utility>

#include "checkpoint/engine/engine.hpp"
#include "checkpoint/format/document.hpp"
#include "checkpoint/format/strict_json.hpp"

namespace amdahl::checkpoint {

void Engine::run(const std::stop_token& stop) {
  follow_agent(stop);
  for (;;) {
    JobPtr job;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return !queue_.empty(); })) return;
      job = std::move(queue_.front());
      queue_.pop_front();
      working_ = true;
    }
    const auto done = write(job, stop);
    {
      const std::scoped_lock lock(mutex_);
      finished(*job, done);
    }
    job.reset();  // its memory is free before anybody is told
    {
      const std::scoped_lock lock(mutex_);
      working_ = false;
      cleaning_ = true;
    }
    changed_.notify_all();
    writer_.clean_up({.deadline = clock_.monotonic() + options_.save_deadline, .stop = stop});
    {
      const std::scoped_lock lock(mutex_);
      cleaning_ = false;
    }
    changed_.notify_all();
  }
}

Result<NamedBlobs> Engine::write(const JobPtr& job, const std::stop_token& stop) {
  TRY(SnapshotRecord record, completed(record_of(*job->plan, job->sums, job->lease.begin()), *job));
  const Bytes arena = job->lease.arena().memory();
  TakenSnapshot snapshot{.record = std::move(record), .copied_in = job->copied_in, .memory = job};
  snapshot.bytes = bytes_in(arena, snapshot.record);
  return writer_.write(snapshot,
                       {.deadline = clock_.monotonic() + options_.save_deadline, .stop = stop});
}

Result<SnapshotRecord> Engine::completed(SnapshotRecord record, const Job& job) {
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

// With the mutex held.
void Engine::finished(const Job& job, const Result<NamedBlobs>& done) {
  status_.queued_bytes -= job.plan->tensor_bytes;
  newest_error_.reset();
  if (!done) {
    newest_error_ = done.error();
    if (done.error().code == Errc::kGone) confirmed_ = {};
    return;
  }
  confirmed_ = {.plan = job.plan};
  for (const auto& [object, name] : *done)
    if (object < job.sums.size())
      confirmed_.blobs[object] = {.name = name, .sums = job.sums[object]};
}

}  // namespace amdahl::checkpoint
