#include "tests/checkpoint/runs.hpp"

#include "base/check.hpp"
#include "checkpoint/engine/test_state.hpp"

namespace amdahl::checkpoint::test {
namespace {

class SkewedClock final : public Clock {
 public:
  explicit SkewedClock(std::chrono::microseconds skew) : skew_(skew) {}
  Monotonic monotonic() const override { return real_.monotonic(); }
  WallTime wall() const override { return real_.wall() + skew_; }
  Task<bool> sleep_until(Monotonic deadline) override { return real_.sleep_until(deadline); }
  Task<bool> wait_until(Wakeup& wakeup, Monotonic deadline) override {
    return real_.wait_until(wakeup, deadline);
  }

 private:
  RealClock real_;
  std::chrono::microseconds skew_;
};

// What a rank has in memory while it is being written.
struct RankSnapshot {
  SnapshotRecord record = {};
  std::vector<std::byte> memory = {};
  std::vector<Bytes> bytes = {};
};
void take(RankSnapshot& snapshot, std::int64_t step, std::int32_t rank, std::int32_t world_size) {
  const TestState state = state_at(step, rank, world_size);
  const auto plan = plan_snapshot(state.specs, small_options(identity("")).plan);
  AMDAHL_CHECK(plan.has_value());
  snapshot.memory.resize(static_cast<std::size_t>((*plan)->memory_bytes));
  const auto pointers = state.pointers();
  const auto sums = copy_tensors({.plan = **plan, .tensors = pointers, .memory = snapshot.memory});
  snapshot.record = record_of(**plan, sums, 0);
  snapshot.record.step = step;
  for (std::size_t i = 0; i < sums.size(); ++i)
    snapshot.bytes.push_back(Bytes(snapshot.memory)
                                 .subspan(static_cast<std::size_t>((*plan)->objects[i].begin),
                                          static_cast<std::size_t>(sums[i].bytes)));
}

}  // namespace

std::vector<std::int64_t> run_engine(Store& store, const RunOptions& run) {
  SkewedClock clock(run.clock_skew);
  RealWaiter waiter;
  EngineOptions options = small_options(identity(run.attempt));
  options.alone = run.alone;
  options.retention.keep_last = 1;
  options.planes = options.deltas = run.deltas;
  options.full_every = 2;
  auto engine = Engine::open(store, clock, waiter, std::move(options));
  AMDAHL_CHECK(engine.has_value());
  std::vector<std::int64_t> committed;
  for (const std::int64_t step : run.steps)
    if (save_step(**engine, step)) committed.push_back(step);
  return committed;
}

std::vector<std::int64_t> run_ranks(Store& store, const RunOptions& run) {
  ManualClock clock;
  SteppingWaiter waiter(clock);
  Committer committer(store, clock, waiter);
  Collector collector(store, identity("").job_uid);
  std::vector<Saver> savers;
  for (std::int32_t rank = 0; rank < run.world_size; ++rank)
    savers.emplace_back(store, clock, identity(run.attempt, rank, run.world_size), 1);
  std::vector<std::int64_t> committed;
  for (const std::int64_t step : run.steps) {
    const StoreCall call{.deadline = clock.monotonic() + std::chrono::seconds(30)};
    const std::string id = save_id(run.attempt, step, 0);
    for (std::int32_t rank = 0; rank < run.world_size; ++rank) {
      RankSnapshot snapshot;
      take(snapshot, step, rank, run.world_size);
      (void)savers[static_cast<std::size_t>(rank)].save(
          {.record = snapshot.record, .bytes = snapshot.bytes, .save_id = id}, call);
    }
    const CommitJob job{.job_uid = identity("").job_uid,
                        .attempt = run.attempt,
                        .save = {.step = step, .save_id = id},
                        .world_size = run.world_size};
    if (!committer.commit(job, call)) continue;
    committed.push_back(step);
    (void)collector.collect(
        {.policy = {.keep_last = 1},
         .saves = {.attempt = run.attempt, .committed_step = step, .alone = run.alone}},
        call);
  }
  return committed;
}

}  // namespace amdahl::checkpoint::test
