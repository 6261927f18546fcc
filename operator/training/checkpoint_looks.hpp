// Looks at checkpoints that were asked for, and how they ended: between the reconciler, which waits
// for nothing, and the reader, which waits for stores.
//
// Thread: one. Lifetime: outlives its workers and the controller; the reader outlives it. Failure:
// none of its own. Every ask is answered within kLookMax, if only by "it could not be read": a
// store that does not answer must not keep a job waiting. Nothing here survives the process.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/deadline.hpp"
#include "operator/kube/request.hpp"
#include "operator/training/checkpoint_reader.hpp"

namespace amdahl::training {

inline constexpr std::size_t kLooksWaitingMax = 1024;
inline constexpr std::size_t kLooksKeptMax = 20'000;
inline constexpr int kLookersMax = 4;  // stores that are read at once
inline constexpr std::chrono::seconds kLookMax{20};

class CheckpointLooks {
 public:
  // Called with the job's key when a look has ended.
  using Wake = std::function<void(const kube::ObjectKey&)>;

  // Without a reader nobody looks.
  CheckpointLooks(boost::asio::any_io_executor executor, Clock& clock, CheckpointReader* reader)
      : clock_(clock), reader_(reader), asked_(std::move(executor)) {}

  bool can_look() const { return reader_ != nullptr; }
  bool can_look_at(std::string_view uri) const { return can_look() && reader_->reads(uri); }
  void on_news(Wake wake) { wake_ = std::move(wake); }

  // Changes nothing while a look for the same attempt is under way.
  void ask(const kube::ObjectKey& key, CheckpointAsk ask);
  // The last look that ended, of this attempt.
  std::optional<CheckpointLook> of(const std::string& job_uid, std::int32_t attempt) const;
  void forget(const std::string& job_uid) { jobs_.erase(job_uid); }
  std::size_t jobs() const { return jobs_.size(); }

  // One of kLookersMax workers; runs until it is cancelled.
  Task<void> work();

 private:
  struct Waiting {
    kube::ObjectKey key = {};
    CheckpointAsk ask = {};
    Monotonic due = {};
  };
  struct Job {
    std::int32_t attempt = 0;
    bool under_way = false;
    std::optional<CheckpointLook> ended = {};
  };
  Task<Result<CheckpointFinding>> look(Waiting asked);
  void end(const Waiting& asked, Result<CheckpointFinding> found);

  Clock& clock_;
  CheckpointReader* reader_;
  Notify asked_;
  Wake wake_;
  std::deque<Waiting> waiting_;
  std::map<std::string, Job> jobs_;  // by UID
};

}  // namespace amdahl::training
