// An agent on a thread of the test, with a store in memory whose writes can be held. For tests
// only.
#pragma once

#include <catch2/catch.hpp>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/json_dump.hpp"
#include "checkpoint/engine/agent.hpp"
#include "checkpoint/engine/engine.hpp"
#include "checkpoint/engine/test_state.hpp"
#include "checkpoint/store/memory_store.hpp"
#include "checkpoint/store/test_folder.hpp"

namespace amdahl::checkpoint::test {

inline void check_ok(const Result<void>& result) {
  INFO((result ? "" : result.error().context));
  CHECK(result.has_value());
}

// Goes on only while the gate is open; counts who waits.
class Gate {
 public:
  void set(bool open) {
    const std::scoped_lock lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  void pass(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, stop, [&] { return open_; });
    --waiting_;
  }
  void until_somebody_waits() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool open_ = true;
  int waiting_ = 0;
};

// The store that all share, as one of several who use it.
class SharedStore final : public Store {
 public:
  SharedStore(Store& store, Gate& gate) : store_(store), gate_(gate) {}
  SharedStore(Store& store, Gate& gate, Gate& removals)
      : store_(store), gate_(gate), removals_(&removals) {}
  Result<void> create(std::string_view name, std::span<const Bytes> pieces,
                      const StoreCall& call) override {
    gate_.pass(call.stop);
    if (call.stop.stop_requested()) return fail(Errc::kCancelled, "{}", name);
    return store_.create(name, pieces, call);
  }
  Result<std::int64_t> size(std::string_view name, const StoreCall& call) override {
    return store_.size(name, call);
  }
  Result<void> read(std::string_view name, std::int64_t begin, std::span<std::byte> into,
                    const StoreCall& call) override {
    return store_.read(name, begin, into, call);
  }
  Result<ListPage> list(std::string_view prefix, std::string_view next,
                        const StoreCall& call) override {
    return store_.list(prefix, next, call);
  }
  Result<void> remove(std::string_view name, const StoreCall& call) override {
    if (removals_ != nullptr) removals_->pass(call.stop);
    return store_.remove(name, call);
  }
  Result<std::int64_t> remove_leftovers(WallTime before, const StoreCall& call) override {
    return store_.remove_leftovers(before, call);
  }
  std::string describe() const override { return store_.describe(); }

 private:
  Store& store_;
  Gate& gate_;
  Gate* removals_ = nullptr;
};

class AgentWorld {
 public:
  // Without `opens`, the agent's store is the one in memory.
  explicit AgentWorld(std::chrono::nanoseconds orphan_wait = std::chrono::seconds(20),
                      std::function<std::unique_ptr<Store>()> opens = {}) {
    Pipe pipe = *make_pipe();
    control_ = std::move(pipe.write);
    AgentOptions options{.clock = clock,
                         .waiter = waiter,
                         .listener = *listen_for_trainers(path()),
                         .control = std::move(pipe.read)};
    options.open_store =
        [this, opens = std::move(opens)](const std::string& uri) -> Result<std::unique_ptr<Store>> {
      if (uri == "forbidden") return fail(Errc::kUnauthorized, "no credentials");
      if (opens) return opens();
      return std::make_unique<SharedStore>(store, gate);
    };
    options.on_done = [this](const AgentSaved& saved) {
      const std::scoped_lock lock(mutex_);
      done_.push_back(saved);
    };
    options.complain = [this](std::string_view text) { note(text); };
    options.orphan_wait = orphan_wait;
    agent_ = std::make_unique<Agent>(std::move(options));
    thread_ = std::jthread([this] { ran_ = agent_->run().has_value(); });
  }
  ~AgentWorld() { finish(); }
  // Until everything that was handed over is done.
  void finish() {
    control_ = Fd();
    if (thread_.joinable()) thread_.join();
    CHECK(ran_);
  }

  std::string path() const { return folder_.path() + "/agent"; }
  std::vector<AgentSaved> done() const {
    const std::scoped_lock lock(mutex_);
    return done_;
  }
  std::vector<std::string> complaints() const {
    const std::scoped_lock lock(mutex_);
    return complaints_;
  }
  void note(std::string_view text) {
    const std::scoped_lock lock(mutex_);
    complaints_.emplace_back(text);
  }

  static nlohmann::json hello(const EngineOptions& options) {
    return {{"uri", "memory"},
            {"jobUid", options.who.job_uid},
            {"attempt", options.who.attempt},
            {"rank", options.who.rank},
            {"worldSize", options.who.world_size},
            {"deltas", options.deltas ? 1 : 0},
            {"ioThreads", 1}};
  }
  std::unique_ptr<Engine> engine(const EngineOptions& options) {
    auto link = AgentLink::connect(path(), hello(options));
    INFO((link ? "" : link.error().context));
    REQUIRE(link.has_value());
    EngineAgent agent{.link = *std::move(link),
                      .complain = [this](std::string_view text) { note(text); }};
    auto made = Engine::open(store, clock, waiter, options, std::move(agent));
    REQUIRE(made.has_value());
    return *std::move(made);
  }

  RealClock clock = {};
  RealWaiter waiter = {};
  MemoryStore store = {};
  Gate gate = {};

 private:
  TestFolder folder_;
  mutable std::mutex mutex_;
  std::vector<AgentSaved> done_;
  std::vector<std::string> complaints_;
  Fd control_;
  std::unique_ptr<Agent> agent_;
  bool ran_ = false;
  std::jthread thread_;
};

}  // namespace amdahl::checkpoint::test
