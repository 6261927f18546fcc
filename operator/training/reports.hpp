// What the ranks of all jobs said last, and what they are to be told: the seam between the report
// endpoint and the controller.
//
// Thread: one. Lifetime: outlives controller and endpoint. Failure: none; what is over a bound is
// dropped and counted. Nothing here survives the process: ranks report again within seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/kube/request.hpp"
#include "operator/training/observed.hpp"

namespace amdahl::training {

inline constexpr std::size_t kReportedJobsMax = 20'000;

class Reports {
 public:
  // Called with the job's key when something arrived that a decision may wait for.
  using Wake = std::function<void(const kube::ObjectKey&)>;
  void on_news(Wake wake) { wake_ = std::move(wake); }

  // A report that was authenticated and validated; `pod_uid` is who really sent it. Reports of
  // older attempts and reports out of order are dropped.
  void note(api::Report report, const std::string& pod_uid, WallTime now);
  api::ReportReply reply_for(const std::string& job_uid, std::int32_t attempt, WallTime now) const;

  // The controller's side.
  std::vector<RankReport> of(const std::string& job_uid, std::int32_t attempt) const;
  void answer_with(const std::string& job_uid, std::int32_t attempt, const api::ReportReply& reply,
                   WallTime now);
  void forget(const std::string& job_uid) { jobs_.erase(job_uid); }

  std::size_t jobs() const { return jobs_.size(); }
  std::uint64_t dropped() const { return dropped_; }

 private:
  using Ranks = std::map<std::int32_t, RankReport>;
  struct Job {
    std::int32_t attempt = 0;
    Ranks ranks = {};
    Ranks ranks_before = {};  // of the attempt before: its account is settled a little later
    api::ReportRequest request = api::ReportRequest::kNone;
    std::optional<WallTime> due = {};
    std::optional<std::int64_t> interval_seconds = {};  // between checkpoints
    WallTime woken = {};
  };
  Job* job_of(const std::string& job_uid, std::int32_t attempt);

  std::map<std::string, Job> jobs_;  // by UID
  Wake wake_;
  std::uint64_t dropped_ = 0;
};

}  // namespace amdahl::training
