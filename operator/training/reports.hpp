// What the ranks of all jobs said last, and what they are to be told: the seam between the report
// endpoint and the controller.
//
// Thread: one. Lifetime: outlives controller and endpoint. Failure: none; note() says when there is
// no room. Nothing here survives the process: ranks report again within seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/kube/request.hpp"
#include "operator/training/moment.hpp"
#include "operator/training/observed.hpp"

namespace amdahl::training {

inline constexpr std::size_t kReportedJobsMax = 20'000;

// A UID alone is not enough: anybody can write one into an owner reference.
struct JobId {
  kube::ObjectKey key = {};
  std::string uid = {};
  auto operator<=>(const JobId&) const = default;
};

enum class Noted : std::uint8_t {
  kTaken,
  kOld,   // of an older attempt, out of order, or no rank of any job
  kFull,  // kReportedJobsMax jobs report already
};

class Reports {
 public:
  explicit Reports(std::size_t jobs_max = kReportedJobsMax) : jobs_max_(jobs_max) {}

  // Called with the job's key when something arrived that a decision may wait for.
  using Wake = std::function<void(const kube::ObjectKey&)>;
  void on_news(Wake wake) { wake_ = std::move(wake); }

  // A report that was authenticated and validated; `pod_uid` is who really sent it. Reports of
  // older attempts and reports out of order are dropped.
  Noted note(api::Report report, const std::string& pod_uid, Monotonic now);
  api::ReportReply reply_for(const JobId& job, std::int32_t attempt, Monotonic now) const;

  // The controller's side. Only what these pods said: the ones that the attempt has.
  std::vector<RankReport> of(const JobId& job, std::int32_t attempt,
                             const std::vector<PodSeen>& pods, Moment now) const;
  void answer_with(const JobId& job, std::int32_t attempt, const api::ReportReply& reply,
                   Monotonic now);
  void forget(const JobId& job) { jobs_.erase(job); }
  // Forgets all jobs that do not exist.
  void sweep(const std::function<bool(const JobId&)>& exists);

  std::size_t jobs() const { return jobs_.size(); }
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Heard {
    api::Report report = {};
    Monotonic received{};
    Monotonic step_changed{};
    bool worked = false;  // was seen at work, whatever it does now
  };
  using Ranks = std::map<std::int32_t, Heard>;
  struct Job {
    std::int32_t attempt = 0;
    Ranks ranks = {};
    Ranks ranks_before = {};  // of the attempt before: its account is settled a little later
    api::ReportRequest request = api::ReportRequest::kNone;
    std::optional<Monotonic> due = {};
    std::optional<std::int64_t> interval_seconds = {};  // between checkpoints
    std::optional<Monotonic> woken = {};
  };
  Job* job_of(const JobId& id);
  static bool begin(Job& job, std::int32_t attempt);

  std::size_t jobs_max_;
  std::map<JobId, Job> jobs_;
  Wake wake_;
  std::uint64_t dropped_ = 0;
};

}  // namespace amdahl::training
