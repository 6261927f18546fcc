#include "checkpoint/engine/engine.hpp"

#include <algorithm>
#include <utility>

namespace amdahl::checkpoint {
namespace {

Result<void> check_options(const EngineOptions& options) {
  const RankIdentity& who = options.who;
  const auto bad = [](std::string_view what) {
    return fail(Errc::kInvalid, "checkpoints: {}", what);
  };
  if (who.job_uid.empty() || who.job_uid.size() > kUidMax) return bad("a job UID is needed");
  if (who.attempt.empty() || who.attempt.size() > kAttemptIdMax)
    return bad("an attempt id is needed: random, and the same on all ranks");
  if (who.world_size < 1 || who.world_size > kRanksMax || who.rank < 0 ||
      who.rank >= who.world_size)
    return bad(fmt::format("rank {} of {}", who.rank, who.world_size));
  if (options.deltas && who.world_size > 1)
    return bad("deltas are for jobs with one rank: ranks cannot tell whether they have one parent");
  if (options.deltas && !options.alone)
    return bad("deltas are not for several attempts at once: a parent may be gone at the commit");
  if (options.full_every < 1 || options.full_every > kChainMax)
    return bad(fmt::format("full_every is 1 to {}", kChainMax));
  return {};
}

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
                                             EngineOptions options) {
  TRY(check_options(options));
  std::unique_ptr<Engine> engine(new Engine(store, clock, waiter, std::move(options)));
  const EngineOptions& given = engine->options_;
  if (given.arena.bytes > 0) {
    TRY(Arena arena, Arena::create(given.arena));
    engine->use_arena(std::move(arena));
  }
  engine->thread_ = std::jthread([raw = engine.get()](std::stop_token stop) { raw->run(stop); });
  return engine;
}

Engine::Engine(Store& store, Clock& clock, Waiter& waiter, EngineOptions options)
    : store_(store),
      clock_(clock),
      waiter_(waiter),
      options_(std::move(options)),
      opened_at_(clock.wall()),
      saver_(store, clock, options_.who, options_.upload_threads),
      committer_(store, clock, waiter),
      collector_(store, options_.who.job_uid) {}

Engine::~Engine() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  queue_.clear();
  base_.reset();
}

void Engine::use_arena(Arena arena) {
  const std::size_t leases = options_.snapshots_max + (options_.deltas ? 1 : 0);
  const std::scoped_lock lock(mutex_);
  status_.arena_bytes = arena.bytes();
  space_ = ArenaSpace::make(std::move(arena), leases);
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
Result<void> Engine::need_arena(const SnapshotPlan& plan) {
  if (options_.arena.bytes > 0 || (space_ && space_->arena().bytes() >= plan.memory_bytes))
    return {};
  const auto more =
      static_cast<std::int64_t>(options_.snapshots_max - 1 + (options_.deltas ? 1 : 0));
  std::int64_t moving = 0;
  for (const PlannedObject& object : plan.objects)
    if (!object.blob) moving += aligned_up(object.layout.header.object_bytes);
  ArenaOptions wanted = options_.arena;
  wanted.touch_now = false;  // the second half is not needed while saves keep up
  wanted.bytes = std::max(plan.memory_bytes + more * moving, kArenaAlignment);
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

Result<Engine::Job> Engine::copy(const SaveRequest& request,
                                 const std::shared_ptr<const SnapshotPlan>& plan) {
  Job job{.plan = plan, .step = request.step};
  {
    const std::scoped_lock lock(mutex_);
    if (confirmed_.plan == plan) job.stored = confirmed_.blobs;
  }
  std::vector<bool> sum_only(plan->objects.size());
  for (const auto& [object, blob] : job.stored) sum_only[object] = true;
  const std::int64_t bytes = memory_needed(*plan, sum_only);
  auto lease = space_->take(bytes, {});
  if (!lease && lease.error().code == Errc::kThrottled && request.patience.count() > 0) {
    {
      const std::scoped_lock lock(mutex_);
      ++status_.waited;
    }
    lease = space_->take(bytes, request.patience);
  }
  if (!lease) return std::unexpected<Error>(std::move(lease).error());
  job.lease = *std::move(lease);
  const Monotonic begin = clock_.monotonic();
  job.sums = copy_tensors({.plan = *plan,
                           .tensors = request.tensors,
                           .memory = job.lease.memory(),
                           .sum_only = std::move(sum_only),
                           .threads = options_.copy_threads});
  job.copied_in = clock_.monotonic() - begin;
  return job;
}

Result<void> Engine::save(const SaveRequest& request) {
  if (request.specs.size() != request.tensors.size() || request.step < 0 || request.step > kStepMax)
    return fail(Errc::kInvalid, "save: step {} with {} tensors and {} addresses", request.step,
                request.specs.size(), request.tensors.size());
  if (request.step <= last_step_)
    return fail(Errc::kInvalid, "save step {}: step {} was saved before it, and steps must grow",
                request.step, last_step_);
  const Monotonic begin = clock_.monotonic();
  const auto take = [&]() -> Result<Job> {
    for (;;) {
      TRY(const auto plan, plan_for(request));
      TRY(need_arena(*plan));
      TRY(Job job, copy(request, plan));
      if (still_same(job)) return job;  // else a frozen tensor has moved: copied after all
    }
  };
  auto job = take();
  if (!job) {
    const std::scoped_lock lock(mutex_);
    if (job.error().code == Errc::kThrottled) ++status_.skipped;
    return wrap(std::move(job).error(), "save step {}", request.step);
  }
  last_step_ = request.step;
  job->state = request.state;
  job->metrics = request.metrics;
  {
    const std::scoped_lock lock(mutex_);
    ++status_.saves;
    status_.state_bytes = job->plan->tensor_bytes;
    status_.queued_bytes += job->plan->tensor_bytes;
    status_.last_stall = clock_.monotonic() - begin;
    if (options_.find_frozen) frozen_.observe(job->plan, job->sums);
    queue_.push_back(*std::move(job));
  }
  changed_.notify_all();
  return {};
}

Result<void> Engine::wait(std::chrono::nanoseconds patience) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, patience, [&] { return queue_.empty() && !working_; }))
    return fail(Errc::kTimeout, "wait: {} saves are still under way", queue_.size() + 1);
  if (newest_error_) return std::unexpected<Error>(*newest_error_);
  return {};
}

EngineStatus Engine::status() const {
  const std::scoped_lock lock(mutex_);
  EngineStatus status = status_;
  status.pause_latency = pause_latency(
      {.state_bytes = status.state_bytes, .queued_bytes = status.queued_bytes}, status.rates);
  return status;
}

}  // namespace amdahl::checkpoint
