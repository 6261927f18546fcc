// Checkpoints of one rank: save() copies the state and returns; a thread of its own writes it,
// commits it (rank 0), and then lets old checkpoints go.
//
// With a link to the checkpoint agent, snapshots lie in memory that both share, and save() hands
// them over before it returns: the agent writes them even if this process is killed. When the agent
// is gone, what it had not said to be done is taken back and written here, since its bytes are
// still in the arena; from then on the engine is as if there had been no agent. The agent may have
// written some of it: names are created once, so that does no harm.
//
// Thread: save() and load() from one thread at a time, the rest from any. Lifetime: store, clock
// and waiter outlive it; its destructor stops what is under way and waits for that. Failure: save()
// fails for what can be told at once; wait() and status() say what became of the rest. A failed
// save leaves nothing that a reader would take for a checkpoint.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "checkpoint/engine/agent_link.hpp"
#include "checkpoint/engine/engine_options.hpp"
#include "checkpoint/engine/engine_status.hpp"
#include "checkpoint/engine/frozen.hpp"
#include "checkpoint/engine/snapshot_copy.hpp"
#include "checkpoint/engine/snapshot_writer.hpp"
#include "checkpoint/engine/waiter.hpp"

namespace amdahl::checkpoint {

struct SaveRequest {
  std::int64_t step = 0;
  std::span<const TensorSpec> specs = {};
  std::span<const std::byte* const> tensors = {};
  std::string state = {};  // JSON as in a receipt, or empty
  std::map<std::string, std::string> metrics = {};
  std::chrono::nanoseconds patience = {};  // for earlier snapshots to be written
};

// Who writes if not the engine's own thread.
struct EngineAgent {
  std::unique_ptr<AgentLink> link = {};                 // none: the engine's own thread
  std::function<void(std::string_view)> complain = {};  // one line, when it is gone
};

class Engine {
 public:
  static Result<std::unique_ptr<Engine>> open(Store& store, Clock& clock, Waiter& waiter,
                                              EngineOptions options, EngineAgent agent = {});
  ~Engine();

  // Returns when every byte is copied. Steps grow; a step is saved once, whatever became of it, so
  // that no name is used for other bytes. kThrottled: earlier snapshots are still being written,
  // this one was skipped. kTooLarge: the arena is too small; the text has the bytes needed.
  Result<void> save(const SaveRequest& request);
  // Until all saves so far are committed. The error of the newest, if it failed; kTimeout.
  Result<void> wait(std::chrono::nanoseconds patience);
  // And until what they replaced is gone. What an agent committed it cleans up after by itself.
  Result<void> settle(std::chrono::nanoseconds patience);
  EngineStatus status() const;
  const EngineOptions& options() const { return options_; }

 private:
  struct StoredBlob {
    std::string name = {};
    ChunkSums sums = {};
  };
  // A blob that the newest checkpoint refers to: it need not be copied again while its sums agree.
  struct Confirmed {
    std::shared_ptr<const SnapshotPlan> plan = {};
    std::map<std::size_t, StoredBlob> blobs = {};  // by object of the plan
  };
  struct Job {
    std::shared_ptr<const SnapshotPlan> plan = {};
    std::vector<ChunkSums> sums = {};
    std::map<std::size_t, StoredBlob> stored = {};  // blobs that were not copied
    ArenaSpace::Lease lease = {};
    std::int64_t record_begin = 0;  // in the lease: room for what the agent reads
    std::int64_t step = 0;
    std::string state = {};
    std::map<std::string, std::string> metrics = {};
    Seconds copied_in = Seconds(0);
  };
  using JobPtr = std::shared_ptr<Job>;

  Engine(Store& store, Clock& clock, Waiter& waiter, EngineOptions options, EngineAgent agent);
  Result<std::shared_ptr<const SnapshotPlan>> plan_for(const SaveRequest& request);
  Result<void> need_arena(const SnapshotPlan& plan, std::int64_t record_room);
  Result<JobPtr> copy(const SaveRequest& request, const std::shared_ptr<const SnapshotPlan>& plan,
                      std::int64_t record_room);
  Result<ArenaSpace::Lease> lease(std::int64_t bytes, std::chrono::nanoseconds patience);
  Result<JobPtr> take(const SaveRequest& request);
  bool still_same(const Job& job);
  void use_arena(Arena arena);
  static Result<SnapshotRecord> completed(SnapshotRecord record, const Job& job);

  Result<void> wait_for(std::chrono::nanoseconds patience, bool cleaned);
  void run(const std::stop_token& stop);
  Result<NamedBlobs> write(const JobPtr& job, const std::stop_token& stop);
  void finished(const Job& job, const Result<NamedBlobs>& done);

  // engine_agent.cpp: what has to do with the agent.
  std::int64_t record_room(const SaveRequest& request, const SnapshotPlan& plan);
  bool hand_over(const JobPtr& job, Monotonic begin);
  Result<void> put_record(const Job& job, AgentMessage& message);
  void follow_agent(const std::stop_token& stop);
  void take_answer(const AgentMessage& message);
  void lose_agent(std::string_view why);

  Clock& clock_;
  EngineOptions options_;
  EngineAgent agent_;
  // Of the thread that saves.
  std::vector<TensorSpec> planned_for_;
  std::uint64_t planned_version_ = 0;  // of frozen_
  std::shared_ptr<const SnapshotPlan> plan_;
  std::shared_ptr<const SnapshotPlan> texted_plan_;  // that plan_tensors_ is of
  std::string plan_tensors_;                         // write_tensors()
  std::shared_ptr<ArenaSpace> space_;
  std::int64_t last_step_ = -1;  // that was copied
  // Of the thread that writes.
  SnapshotWriter writer_;
  // Of both.
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<JobPtr> queue_;
  struct Handed {
    JobPtr job = {};
    bool done = false;  // but its memory may still be in use
  };
  std::map<std::int64_t, Handed> handed_;  // to the agent, by step
  bool with_agent_ = false;
  bool working_ = false;
  bool cleaning_ = false;
  std::optional<Error> newest_error_;
  Confirmed confirmed_;
  FrozenTensors frozen_;
  EngineStatus status_;
  WriteStatus agent_status_;
  std::jthread thread_;  // last: ends first
};

}  // namespace amdahl::checkpoint
