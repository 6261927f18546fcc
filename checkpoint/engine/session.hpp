// One user of a prefix, as c_api.h offers it: JSON in, JSON out, tensors by address.
//
// Thread: one at a time, but for status(). Lifetime: owns its store and engine. Failure: as the
// parts say; the engine is made at the first save, so that readers need no job.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "checkpoint/engine/catalog.hpp"
#include "checkpoint/engine/engine.hpp"
#include "checkpoint/engine/session_options.hpp"
#include "checkpoint/engine/waiter.hpp"

namespace amdahl::checkpoint {

struct SessionSave {
  std::int64_t step = 0;
  std::string_view state = {};
  std::string_view metrics = {};
  std::chrono::nanoseconds patience = {};
};

class Session {
 public:
  // `variable` reads the environment, for credentials of stores.
  static Result<std::unique_ptr<Session>> open(
      std::string_view options_json, std::function<std::string(std::string_view)> variable);

  Result<void> describe(std::string_view tensors_json);
  Result<void> save(const SessionSave& save, std::span<const std::byte* const> tensors);
  Result<void> wait(std::chrono::nanoseconds patience);
  std::string status() const;

  Result<std::string> open_step(std::int64_t step, std::int64_t before);
  Result<void> load(std::string_view wanted_json, std::span<std::byte* const> tensors);

  Result<std::string> list();
  Result<std::string> verify(std::int64_t step);
  Result<std::string> collect(bool only_a_plan);
  Result<void> export_step(std::int64_t step, const std::string& path);
  Result<void> pin(std::int64_t step, bool pinned);

 private:
  Session() = default;
  StoreCall call() const;

  RealClock clock_;
  RealWaiter waiter_;
  SessionOptions options_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Engine> engine_;
  std::vector<TensorSpec> specs_;
  Chain opened_;
};

}  // namespace amdahl::checkpoint
