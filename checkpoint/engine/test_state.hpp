// States of a small model, which follow from a step, and the way there and back through a store.
// For tests only.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "checkpoint/engine/engine.hpp"
#include "checkpoint/engine/loader.hpp"
#include "checkpoint/engine/snapshot_plan.hpp"

namespace amdahl::checkpoint::test {

struct TestState {
  std::vector<TensorSpec> specs = {};
  std::vector<std::string> bytes = {};
  std::string state = {};
  std::vector<const std::byte*> pointers() const;
  void add(TensorSpec spec, std::string content);
};

// Of one rank: parameters in F32, BF16 values that change little, an I64 counter, a tensor that all
// ranks share the rows of, one that never changes and is marked so, one without elements.
TestState state_at(std::int64_t step, std::int32_t rank = 0, std::int32_t world_size = 1);

// A job of its own attempt.
RankIdentity identity(std::string attempt, std::int32_t rank = 0, std::int32_t world_size = 1);

// Small chunks and parts, one thread, so that calls come in one order.
EngineOptions small_options(RankIdentity who);

SaveRequest request_of(const TestState& state, std::int64_t step,
                       const std::vector<const std::byte*>& pointers);
// Saves state_at(step) and waits.
Result<void> save_step(Engine& engine, std::int64_t step);

// All tensors of a checkpoint, whole, by name.
Result<std::map<std::string, std::string>> load_all(Store& store, const Chain& chain,
                                                    int threads = 2);
// What load_all() must give for a step that was saved by so many ranks.
std::map<std::string, std::string> expected_at(std::int64_t step, std::int32_t world_size = 1);

// Time passes when somebody waits.
class SteppingWaiter final : public Waiter {
 public:
  explicit SteppingWaiter(ManualClock& clock) : clock_(clock) {}
  bool wait(std::chrono::nanoseconds time, const std::stop_token& stop) override {
    clock_.advance(time);
    return !stop.stop_requested();
  }

 private:
  ManualClock& clock_;
};

}  // namespace amdahl::checkpoint::test
