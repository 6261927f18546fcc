// One trainer as the checkpoint agent sees it: its arena, the snapshots it handed over, and the
// thread that writes them in their order.
//
// When the trainer is gone its snapshots are written and committed all the same. What other ranks
// have to add is then waited for no longer than kOrphanReceiptsMax, so that a restart is not held
// up for long. Thread: of the agent's loop, but for `on_done` and `on_idle`, which its own thread
// calls.
// Lifetime: the destructor stops what is under way. Failure: what a trainer says wrong is kInvalid,
// kCorrupt or kTooLarge, and costs it its connection.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.hpp"
#include "checkpoint/engine/agent_message.hpp"
#include "checkpoint/engine/agent_socket.hpp"
#include "checkpoint/engine/snapshot_writer.hpp"

namespace amdahl::checkpoint {

// How long rank 0 of a trainer that is gone waits for the receipts of others, after its own, and
// how long the others wait for its commit: longer, so that all of them come to know the same.
inline constexpr std::chrono::seconds kOrphanReceiptsMax{60};
inline constexpr int kOrphanManifestShare = 4;  // a quarter longer

// Trainers that have gone come before those of another attempt, which replace them and collect what
// they leave uncommitted. Ranks of one attempt wait for each other's receipts, not here.
class OrphansFirst {
 public:
  void add(std::uint64_t id, std::string attempt);
  void remove(std::uint64_t id);
  bool any() const;
  // Until no orphan of another attempt is older; false when stopped.
  bool wait_for_older(std::uint64_t id, std::string_view attempt, const std::stop_token& stop);

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::uint64_t, std::string> orphans_;  // the attempt of each
};

// What became of a save.
struct AgentSaved {
  std::string uri = {};
  bool committed = false;
  Seconds stall = Seconds(0);
  EngineStatus status = {};
};

struct AgentRankOptions {
  std::uint64_t id = 0;
  std::string uri = {};
  EngineOptions engine = {};
  std::chrono::nanoseconds orphan_wait = kOrphanReceiptsMax;
  std::function<void(const AgentSaved&)> on_done = {};
  std::function<void()> on_idle = {};  // it may be
};

class AgentRank {
 public:
  struct World {
    Clock& clock;
    Waiter& waiter;
    OrphansFirst& orphans;
  };
  AgentRank(World world, AgentRankOptions options, std::unique_ptr<Store> store,
            std::shared_ptr<const AgentSocket> socket);
  ~AgentRank();

  // Where the saves that follow lie.
  Result<void> use_arena(int fd);
  Result<void> take(const AgentMessage& save);
  void orphan();      // its trainer is gone
  bool idle() const;  // everything that was taken is done

 private:
  struct Job {
    AgentMessage message = {};
    TakenSnapshot snapshot = {};
  };
  // Waits for other ranks no longer than an orphan may.
  class PatientWaiter final : public Waiter {
   public:
    explicit PatientWaiter(AgentRank& rank) : rank_(rank) {}
    bool wait(std::chrono::nanoseconds time, const std::stop_token& stop) override;

   private:
    AgentRank& rank_;
    Monotonic until_ = Monotonic::max();
    friend AgentRank;
  };

  void run(const std::stop_token& stop);
  void finish(const Job& job, const std::stop_token& stop);
  void tell(const Job& job, const Result<NamedBlobs>& done);

  World world_;
  AgentRankOptions options_;
  std::unique_ptr<Store> store_;
  std::shared_ptr<const AgentSocket> socket_;
  std::shared_ptr<const Arena> arena_;
  std::int64_t last_step_ = -1;
  std::atomic<bool> orphan_ = false;
  PatientWaiter patient_;
  SnapshotWriter writer_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job> queue_;
  bool working_ = false;
  std::jthread thread_;  // last: ends first
};

}  // namespace amdahl::checkpoint
