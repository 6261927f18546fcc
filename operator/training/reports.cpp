#include "operator/training/reports.hpp"

#include <algorithm>

#include "operator/api/bounds.hpp"
#include "operator/training/status_of.hpp"

namespace amdahl::training {
namespace {

// What a decision may wait for; plain progress can wait for its turn.
bool is_news(const api::Report& before, const api::Report& now) {
  const auto saved = [](const api::Report& report) {
    return report.checkpoint ? report.checkpoint->step : -1;
  };
  return before.pause != now.pause || saved(before) != saved(now) ||
         before.step.has_value() != now.step.has_value();
}

kube::ObjectKey key_of(const api::Report& report) {
  const auto slash = report.job.find('/');
  if (slash == std::string::npos) return {.name = report.job};
  return {.ns = report.job.substr(0, slash), .name = report.job.substr(slash + 1)};
}

}  // namespace

Reports::Job* Reports::job_of(const std::string& job_uid, std::int32_t attempt) {
  auto found = jobs_.find(job_uid);
  if (found == jobs_.end()) {
    if (jobs_.size() >= kReportedJobsMax) return nullptr;
    found = jobs_.try_emplace(job_uid).first;
  }
  Job& job = found->second;
  if (attempt < job.attempt) return nullptr;
  if (attempt > job.attempt) {
    Ranks before = attempt == job.attempt + 1 ? std::move(job.ranks) : Ranks{};
    job = Job{.attempt = attempt, .ranks_before = std::move(before)};
  }
  return &job;
}

void Reports::note(api::Report report, const std::string& pod_uid, WallTime now) {
  Job* const job = report.rank < api::kNodesMax ? job_of(report.job_uid, report.attempt) : nullptr;
  if (job == nullptr) {
    ++dropped_;
    return;
  }
  report.pod_uid = pod_uid;
  const auto [entry, fresh] = job->ranks.try_emplace(report.rank);
  RankReport& last = entry->second;
  const bool same_pod = !fresh && last.report.pod_uid == report.pod_uid;
  if (same_pod && report.sequence <= last.report.sequence) {
    ++dropped_;
    return;
  }
  const bool news = !same_pod || is_news(last.report, report);
  const bool stepped = !same_pod || last.report.step != report.step;
  last.received = now;
  if (stepped) last.step_changed = now;
  last.report = std::move(report);
  const bool turn = stepped && last.report.rank == 0 && now >= job->woken + kProgressEvery;
  if (!news && !turn) return;
  job->woken = now;
  if (wake_) wake_(key_of(last.report));
}

api::ReportReply Reports::reply_for(const std::string& job_uid, std::int32_t attempt,
                                    WallTime now) const {
  const auto found = jobs_.find(job_uid);
  if (found == jobs_.end() || found->second.attempt != attempt) return {};
  api::ReportReply reply{.request = found->second.request,
                         .checkpoint_interval_seconds = found->second.interval_seconds};
  if (found->second.due) {
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(*found->second.due - now);
    reply.deadline_seconds = std::max<std::int64_t>(0, left.count());
  }
  return reply;
}

std::vector<RankReport> Reports::of(const std::string& job_uid, std::int32_t attempt) const {
  std::vector<RankReport> all;
  const auto found = jobs_.find(job_uid);
  if (found == jobs_.end()) return all;
  const Job& job = found->second;
  if (attempt != job.attempt && attempt + 1 != job.attempt) return all;
  const Ranks& ranks = attempt == job.attempt ? job.ranks : job.ranks_before;
  for (const auto& [rank, report] : ranks) all.push_back(report);
  return all;
}

void Reports::answer_with(const std::string& job_uid, std::int32_t attempt,
                          const api::ReportReply& reply, WallTime now) {
  if (reply.request == api::ReportRequest::kNone && !jobs_.contains(job_uid)) return;
  Job* const job = job_of(job_uid, attempt);
  if (job == nullptr) return;
  job->request = reply.request;
  job->interval_seconds = reply.checkpoint_interval_seconds;
  job->due.reset();
  if (reply.deadline_seconds) job->due = now + std::chrono::seconds{*reply.deadline_seconds};
}

}  // namespace amdahl::training
