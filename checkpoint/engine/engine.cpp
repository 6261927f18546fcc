#include "checkpoint/engine/engine.hpp"

#include <algorithm>
#include <utility>

namespace amdahl::checkpoint {
namespace {

// Bytes of memory up to the end of the last object that is copied; blobs come last.
std::int64_t memory_needed(const SnapshotPlan& plan, const std::vector<bool>& sum_only) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < plan.objects.size(); ++i)
    if (sum_only.empty() || !sum_only[i])
      bytes = plan.objects[i].begin + aligned_up(plan.objects[i].layout.header.object_bytes);
  return bytes;
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(Store& store, Clock& clock, Waiter& waiter,
                                             EngineOptions options, EngineAgent agent) {
  TRY(check(options));
  if (agent.link && options.arena.kind == ArenaKind::kPrivate)
    options.arena.kind = ArenaKind::kAnonymousFile;
  std::unique_ptr<Engine> engine(
      new Engine(store, clock, waiter, std::move(options), std::move(agent)));
  const EngineOptions& given = engine->options_;
  if (given.arena.bytes > 0) {
    TRY(check_budget(given.arena.bytes, given.budget));
    TRY(Arena arena, Arena::create(given.arena));
    engine->use_arena(std::move(arena));
  }
  engine->thread_ = std::jthread([raw = engine.get()](std::stop_token stop) { raw->run(stop); });
  return engine;
}

Engine::Engine(Store& store, Clock& clock, Waiter& waiter, EngineOptions options, EngineAgent agent)
    : clock_(clock),
      options_(std::move(options)),
      agent_(std::move(agent)),
      writer_(store, clock, waiter, options_),
      with_agent_(agent_.link != nullptr) {}

Engine::~Engine() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
}

void Engine::use_arena(Arena arena) {
  const std::size_t leases = options_.snapshots_max + (options_.deltas ? 1 : 0);
  bool shared = false;
  {
    const std::scoped_lock lock(mutex_);
    status_.arena_bytes = arena.bytes();
    space_ = ArenaSpace::make(std::move(arena), leases);
    shared = with_agent_;
  }
  if (!shared) return;
  if (const auto given = agent_.link->give_arena(space_->arena().fd()); !given)
    lose_agent(given.error().context);
}

Result<std::shared_ptr<const SnapshotPlan>> Engine::plan_for(const SaveRequest& request) {
  std::unique_lock lock(mutex_);
  const std::uint64_t version = frozen_.version();
  if (plan_ && planned_version_ == version && std::ranges::equal(request.specs, planned_for_))
    return plan_;
  std::vector<TensorSpec> specs(request.specs.begin(), request.specs.end());
  if (options_.find_frozen) frozen_.mark(specs);
  lock.unlock();
  TRY(plan_, plan_snapshot(std::move(specs), options_.plan));
  planned_for_.assign(request.specs.begin(), request.specs.end());
  planned_version_ = version;
  return plan_;
}

// An arena that nobody gave a size has the size of the first snapshots, and is replaced by a larger
// one when the state grows, as it does when an optimizer begins to have one.
Result<void> Engine::need_arena(const SnapshotPlan& plan, std::int64_t record_room) {
  const std::int64_t whole = plan.memory_bytes + aligned_up(record_room);
  if (options_.arena.bytes > 0 || (space_ && space_->arena().bytes() >= whole)) return {};
  const auto more =
      static_cast<std::int64_t>(options_.snapshots_max - 1 + (options_.deltas ? 1 : 0));
  std::int64_t moving = aligned_up(record_room);
  for (const PlannedObject& object : plan.objects)
    if (!object.blob) moving += aligned_up(object.layout.header.object_bytes);
  ArenaOptions wanted = options_.arena;
  wanted.touch_now = false;  // the second half is not needed while saves keep up
  wanted.bytes = std::max(whole + more * moving, kArenaAlignment);
  TRY(check_budget(wanted.bytes, options_.budget));
  TRY(Arena arena, Arena::create(wanted));
  use_arena(std::move(arena));
  return {};
}

// Whether the blobs that were not copied still have the bytes that are stored.
bool Engine::still_same(const Job& job) {
  bool same = true;
  const std::scoped_lock lock(mutex_);
  for (const auto& [object, blob] : job.stored) {
    if (job.sums[object] == blob.sums) continue;
    same = false;
    frozen_.thaw(job.plan->objects[object], *job.plan);
    if (confirmed_.plan == job.plan) confirmed_.blobs.erase(object);
  }
  return same;
}

Result<ArenaSpace::Lease> Engine::lease(std::int64_t bytes, std::chrono::nanoseconds patience) {
  auto lease = space_->take(bytes, {});
  if (lease || lease.error().code != Errc::kThrottled || patience.count() <= 0) return lease;
  {
    const std::scoped_lock lock(mutex_);
    ++status_.waited;
  }
  return space_->take(bytes, patience);
}

Result<Engine::JobPtr> Engine::copy(const SaveRequest& request,
                                    const std::shared_ptr<const SnapshotPlan>& plan,
                                    std::int64_t record_room) {
  auto job = std::make_shared<Job>(Job{.plan = plan, .step = request.step});
  {
    const std::scoped_lock lock(mutex_);
    // A signature needs sums that only the bytes can give: then blobs are copied, if not uploaded.
    if (confirmed_.plan == plan && !options_.sums_for_signature()) job->stored = confirmed_.blobs;
  }
  std::vector<bool> sum_only(plan->objects.size());
  for (const auto& [object, blob] : job->stored) sum_only[object] = true;
  job->record_begin = memory_needed(*plan, sum_only);
  TRY(job->lease, lease(job->record_begin + record_room, request.patience));
  const Monotonic begin = clock_.monotonic();
  job->sums = copy_tensors({.plan = *plan,
                            .tensors = request.tensors,
                            .memory = job->lease.memory(),
                            .sum_only = std::move(sum_only),
                            .threads = options_.copy_threads});
  job->copied_in = clock_.monotonic() - begin;
  job->state = request.state;
  job->metrics = request.metrics;
  return job;
}

Result<Engine::JobPtr> Engine::take(const SaveRequest& request) {
  for (;;) {
    TRY(const auto plan, plan_for(request));
    const std::int64_t room = record_room(request, *plan);
    TRY(need_arena(*plan, room));
    TRY(JobPtr job, copy(request, plan, room));
    if (still_same(*job)) return job;  // else a frozen tensor has moved: copied after all
  }
}

Result<void> Engine::save(const SaveRequest& request) {
  if (request.specs.size() != request.tensors.size() || request.step < 0 || request.step > kStepMax)
    return fail(Errc::kInvalid, "save: step {} with {} tensors and {} addresses", request.step,
                request.specs.size(), request.tensors.size());
  if (request.step <= last_step_)
    return fail(Errc::kInvalid, "save step {}: step {} was saved before it, and steps must grow",
                request.step, last_step_);
  const Monotonic begin = clock_.monotonic();
  auto job = take(request);
  if (!job) {
    const std::scoped_lock lock(mutex_);
    if (job.error().code == Errc::kThrottled) ++status_.skipped;
    return wrap(std::move(job).error(), "save step {}", request.step);
  }
  last_step_ = request.step;
  {
    const std::scoped_lock lock(mutex_);
    ++status_.saves;
    status_.state_bytes = (*job)->plan->tensor_bytes;
    status_.queued_bytes += (*job)->plan->tensor_bytes;
    if (options_.find_frozen) frozen_.observe((*job)->plan, (*job)->sums);
  }
  const bool handed = hand_over(*job, begin);
  {
    const std::scoped_lock lock(mutex_);
    status_.last_stall = clock_.monotonic() - begin;
    if (!handed) queue_.push_back(*std::move(job));
  }
  changed_.notify_all();
  return {};
}

Result<void> Engine::wait(std::chrono::nanoseconds patience) {
  return wait_for(patience, false);
}

Result<void> Engine::settle(std::chrono::nanoseconds patience) {
  return wait_for(patience, true);
}

Result<void> Engine::wait_for(std::chrono::nanoseconds patience, bool cleaned) {
  std::unique_lock lock(mutex_);
  const auto under_way = [&] {
    const auto handed =
        std::ranges::count_if(handed_, [](const auto& entry) { return !entry.second.done; });
    return queue_.size() + (working_ ? 1 : 0) + static_cast<std::size_t>(handed);
  };
  const auto over = [&] { return under_way() == 0 && !(cleaned && cleaning_); };
  if (!changed_.wait_for(lock, patience, over))
    return fail(Errc::kTimeout, "wait: {} saves are still under way{}", under_way(),
                cleaning_ ? ", and old checkpoints are being removed" : "");
  if (newest_error_) return std::unexpected<Error>(*newest_error_);
  return {};
}

EngineStatus Engine::status() const {
  const std::scoped_lock lock(mutex_);
  EngineStatus status = status_;
  static_cast<WriteStatus&>(status) = with_agent_ ? agent_status_ : writer_.status();
  status.by_agent = with_agent_;
  status.pause_latency = pause_latency(
      {.state_bytes = status.state_bytes, .queued_bytes = status.queued_bytes}, status.rates);
  return status;
}

}  // namespace amdahl::checkpoint
