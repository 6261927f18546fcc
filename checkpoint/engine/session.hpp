// One user of a prefix, as c_api.h offers it: JSON in, JSON out, tensors by address.
//
// With a checkpoint agent (agent.hpp) on this node it is the agent that writes. Without one, or
// after it is gone, this process does; engine.hpp says what becomes of what it had been given.
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
#include "checkpoint/engine/loader.hpp"
#include "checkpoint/engine/session_options.hpp"
#include "checkpoint/engine/waiter.hpp"

namespace amdahl::checkpoint {

struct SessionSave {
  std::int64_t step = 0;
  std::string_view state = {};
  std::string_view metrics = {};
  std::chrono::nanoseconds patience = {};
};

// The environment by which a launcher tells of its agent and of the memory there is for it
// (operator/api/report_env.hpp has the same names).
inline constexpr std::string_view kAgentSocketVariable = "AMDAHL_CHECKPOINT_SOCKET";
inline constexpr std::string_view kArenaFolderVariable = "AMDAHL_ARENA_DIR";
inline constexpr std::string_view kArenaBytesVariable = "AMDAHL_ARENA_BYTES";
inline constexpr std::string_view kLocalProcessesVariable = "LOCAL_WORLD_SIZE";  // torchrun's

// What a session knows of its process.
struct SessionPlace {
  std::function<std::string(std::string_view name)> variable = {};     // of the environment
  std::function<std::string(const std::string& path)> read_file = {};  // empty: there is none
  std::function<void(std::string_view)> complain = {};                 // one line for people
};

class Session {
 public:
  static Result<std::unique_ptr<Session>> open(std::string_view options_json, SessionPlace place);

  Result<void> describe(std::string_view tensors_json);
  Result<void> save(const SessionSave& save, std::span<const std::byte* const> tensors);
  Result<void> wait(std::chrono::nanoseconds patience);
  Result<void> settle(std::chrono::nanoseconds patience);
  std::string status() const;

  Result<std::string> open_step(std::int64_t step, std::int64_t before);
  // Of the step that is open. Without a description: an address for each tensor that open_step()
  // listed, or null.
  Result<void> load(std::string_view wanted_json, std::span<std::byte* const> tensors);

  Result<std::string> list();
  Result<std::string> verify(std::int64_t step);
  Result<std::string> collect(bool only_a_plan);
  Result<void> export_step(std::int64_t step, const std::string& path);
  Result<void> pin(std::int64_t step, bool pinned);

 private:
  Session() = default;
  StoreCall call() const;
  Result<void> open_engine();
  Result<void> take_prefix();
  EngineOptions options_for_here() const;
  Result<std::vector<TensorWanted>> whole_tensors(std::span<std::byte* const> tensors);
  static Result<std::vector<TensorWanted>> described_tensors(std::string_view wanted_json,
                                                             std::span<std::byte* const> tensors);
  std::string agent_path() const;
  std::unique_ptr<AgentLink> find_agent(nlohmann::json options);
  void await_earlier_process();
  nlohmann::json hello_options() const;

  RealClock clock_;
  RealWaiter waiter_;
  SessionOptions options_;
  std::string options_text_;
  SessionPlace place_;
  bool complained_ = false;  // that there is no agent
  bool settled_ = false;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Engine> engine_;
  std::vector<TensorSpec> specs_;
  Chain opened_;
  std::vector<TensorInfo> opened_tensors_;
};

}  // namespace amdahl::checkpoint
