#include "checkpoint/engine/agent_rank.hpp"

#include <algorithm>
#include <utility>

namespace amdahl::checkpoint {

void OrphansFirst::add(std::uint64_t id, std::string attempt) {
  const std::scoped_lock lock(mutex_);
  orphans_.emplace(id, std::move(attempt));
}

void OrphansFirst::remove(std::uint64_t id) {
  {
    const std::scoped_lock lock(mutex_);
    orphans_.erase(id);
  }
  changed_.notify_all();
}

bool OrphansFirst::any() const {
  const std::scoped_lock lock(mutex_);
  return !orphans_.empty();
}

bool OrphansFirst::wait_for_older(std::uint64_t id, std::string_view attempt,
                                  const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  return changed_.wait(lock, stop, [&] {
    return std::ranges::none_of(orphans_, [&](const auto& orphan) {
      return orphan.first < id && orphan.second != attempt;
    });
  });
}

bool AgentRank::PatientWaiter::wait(std::chrono::nanoseconds time, const std::stop_token& stop) {
  const Monotonic now = rank_.world_.clock.monotonic();
  if (rank_.orphan_ && until_ == Monotonic::max()) {
    const auto receipts = rank_.options_.orphan_wait;
    const bool first = rank_.options_.engine.who.rank == 0;
    until_ = now + receipts + (first ? receipts * 0 : receipts / kOrphanManifestShare);
  }
  if (now >= until_) return false;
  return rank_.world_.waiter.wait(time, stop);
}

AgentRank::AgentRank(World world, AgentRankOptions options, std::unique_ptr<Store> store,
                     std::shared_ptr<const AgentSocket> socket)
    : world_(world),
      options_(std::move(options)),
      store_(std::move(store)),
      socket_(std::move(socket)),
      patient_(*this),
      writer_(*store_, world.clock, patient_, options_.engine),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

AgentRank::~AgentRank() {
  thread_.request_stop();
  thread_.join();
}

Result<void> AgentRank::use_arena(int fd) {
  TRY(Arena arena, Arena::adopt(fd));
  arena_ = std::make_shared<const Arena>(std::move(arena));
  return {};
}

Result<void> AgentRank::take(const AgentMessage& save) {
  if (!arena_) return fail(Errc::kInvalid, "save step {}: there is no arena", save.step);
  const Bytes memory = arena_->memory();
  if (save.record_begin > arena_->bytes() ||
      save.record_bytes > arena_->bytes() - save.record_begin)
    return fail(Errc::kInvalid, "save step {}: its record lies outside of the arena", save.step);
  // A copy: the trainer could change it while it is being read.
  const std::string text(text_of(memory.subspan(static_cast<std::size_t>(save.record_begin),
                                                static_cast<std::size_t>(save.record_bytes))));
  Job job{.message = save};
  TRY(job.snapshot.record, read_snapshot_record(text, arena_->bytes()));
  if (job.snapshot.record.step != save.step || save.step <= last_step_)
    return fail(Errc::kInvalid, "save step {}: its record is of step {}, the last was {}",
                save.step, job.snapshot.record.step, last_step_);
  last_step_ = save.step;
  job.snapshot.bytes = bytes_in(memory, job.snapshot.record);
  job.snapshot.copied_in = std::chrono::nanoseconds(save.copied_ns);
  {
    const std::scoped_lock lock(mutex_);
    if (queue_.size() >= kLeasesMax)
      return fail(Errc::kTooLarge, "save step {}: {} wait already", save.step, queue_.size());
    // Says that the memory is free when the last who needs it is gone: a delta's base stays.
    job.snapshot.memory = std::shared_ptr<const Arena>(
        arena_.get(), [socket = socket_, arena = arena_, step = save.step](const Arena*) {
          // A trainer that is gone needs no answer; one that does not read has lost its slot.
          (void)socket->send({.kind = AgentKind::kFreed, .step = step});
        });
    queue_.push_back(std::move(job));
  }
  changed_.notify_all();
  return {};
}

void AgentRank::orphan() {
  orphan_ = true;
  world_.orphans.add(options_.id, options_.engine.who.attempt);
}

bool AgentRank::idle() const {
  const std::scoped_lock lock(mutex_);
  return queue_.empty() && !working_;
}

void AgentRank::run(const std::stop_token& stop) {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return !queue_.empty(); })) return;
      job = std::move(queue_.front());
      queue_.pop_front();
      working_ = true;
    }
    if (world_.orphans.wait_for_older(options_.id, options_.engine.who.attempt, stop))
      finish(job, stop);
    job = {};
    writer_.clean_up(
        {.deadline = world_.clock.monotonic() + options_.engine.save_deadline, .stop = stop});
    {
      const std::scoped_lock lock(mutex_);
      working_ = false;
    }
    if (options_.on_idle) options_.on_idle();
  }
}

void AgentRank::finish(const Job& job, const std::stop_token& stop) {
  patient_.until_ = Monotonic::max();
  const auto done = writer_.write(
      job.snapshot,
      {.deadline = world_.clock.monotonic() + options_.engine.save_deadline, .stop = stop});
  tell(job, done);
}

void AgentRank::tell(const Job& job, const Result<NamedBlobs>& done) {
  const WriteStatus status = writer_.status();
  AgentMessage message{.kind = AgentKind::kDone};
  if (!done) message = failed_message(AgentKind::kDone, done.error());
  message.step = job.message.step;
  message.status.push_back(to_message(status));
  if (done)
    for (const auto& [object, name] : *done)
      message.blobs.push_back({.object = static_cast<std::int32_t>(object), .name = name});
  // Who gets no answer is gone, or takes its snapshots back when it sees the end.
  if (!socket_->send(message)) socket_->shut_down();
  AgentSaved saved{.uri = options_.uri,
                   .committed = done.has_value(),
                   .stall = std::chrono::nanoseconds(job.message.stall_ns)};
  static_cast<WriteStatus&>(saved.status) = status;
  saved.status.state_bytes = status.last.state_bytes;
  saved.status.pause_latency =
      pause_latency({.state_bytes = status.last.state_bytes}, status.rates);
  if (options_.on_done) options_.on_done(saved);
}

}  // namespace amdahl::checkpoint
