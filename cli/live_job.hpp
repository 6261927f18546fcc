// One TrainingJob that is watched: the job, and if wanted its pods and events, kept up to date.
//
// Thread: one. Lifetime: made and ended by with_live_job(). Failure: what the first look finds (no
// such job, no such kind, not allowed); later only a watch of the job that is refused. Pods and
// events that this user may not see are left out.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/deadline.hpp"
#include "base/task_group.hpp"
#include "cli/cluster_access.hpp"
#include "cli/job_seen.hpp"
#include "cli/program.hpp"
#include "operator/controller/store.hpp"
#include "operator/kube/watcher.hpp"

namespace amdahl::cli {

enum class JobParts : std::uint8_t { kJobOnly, kWithGang };

class LiveJob {
 public:
  LiveJob(Program& program, Access access, std::string name, boost::asio::any_io_executor executor);

  // Returns when everything was read once.
  Task<Result<void>> start(JobParts parts);
  // Until something changed since the last call; Errc::kTimeout at the deadline.
  Task<Result<void>> changed(Monotonic deadline);
  Task<void> stop();

  // False when it was deleted; another one of the same name is not it.
  bool exists() const;
  const TrainingJob& job() const { return last_; }  // as last seen
  JobSeen seen() const;

 private:
  struct Part {
    std::unique_ptr<kube::Watcher> watcher = {};
    std::optional<Error> refused = {};
  };
  template <class T>
  void watch(Part& part, controller::Store<T>& store, kube::WatcherOptions options);
  bool complete() const;
  void remember();

  Program& program_;
  Access access_;
  std::string name_;
  TrainingJob last_;
  controller::Store<TrainingJob> jobs_;
  controller::Store<kube::Pod> pods_;
  controller::Store<kube::Event> events_;
  Part job_part_;
  Part pod_part_;
  Part event_part_;
  JobParts parts_ = JobParts::kJobOnly;
  std::uint64_t changes_ = 0;
  std::uint64_t told_ = 0;
  Notify news_;
  TaskGroup tasks_;
};

// Runs `work` with a job that is watched, and ends the watches.
using WithLiveJob = std::function<Task<Result<int>>(LiveJob&)>;
Task<Result<int>> with_live_job(Program& program, Access access, std::string name, JobParts parts,
                                WithLiveJob work);

// The job with its gang, looked at once.
Task<Result<JobSeen>> look_at_job(Program& program, Access access, std::string name);

}  // namespace amdahl::cli
