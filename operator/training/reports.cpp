#include "operator/training/reports.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "operator/api/bounds.hpp"
#include "operator/training/attempt_view.hpp"
#include "operator/training/status_of.hpp"

namespace amdahl::training {
namespace {

// What a decision may wait for; plain progress can wait for its turn.
bool is_news(const api::Report& before, const api::Report& now) {
  const auto saved = [](const api::Report& report) {
    return report.checkpoint ? report.checkpoint->step : -1;
  };
  return before.pause != now.pause || saved(before) != saved(now) ||
         before.step.has_value() != now.step.has_value() ||
         before.failed_saves.has_value() != now.failed_saves.has_value() ||
         before.ended_ranks != now.ended_ranks;
}

// A rank knows it better than a process that has just become the leader. A step of which no age is
// known is as old as its news.
Monotonic step_time(const api::Report& report, Monotonic now) {
  if (!report.step || !report.step_age_seconds) return now;
  return now - std::chrono::round<std::chrono::nanoseconds>(
                   std::chrono::duration<double>(*report.step_age_seconds));
}

kube::ObjectKey key_of(const api::Report& report) {
  const auto slash = report.job.find('/');
  if (slash == std::string::npos) return {.name = report.job};
  return {.ns = report.job.substr(0, slash), .name = report.job.substr(slash + 1)};
}

// The rank that counts the steps of the whole job: the first that has any (attempts.cpp).
bool counts_for_all(const auto& ranks, const api::Report& report) {
  const auto first = std::ranges::find_if(
      ranks, [](const auto& entry) { return entry.second.report.step.has_value(); });
  return first != ranks.end() && first->first == report.rank;
}

}  // namespace

Reports::Job* Reports::job_of(const JobId& id) {
  const auto found = jobs_.find(id);
  if (found != jobs_.end()) return &found->second;
  return jobs_.size() < jobs_max_ ? &jobs_.try_emplace(id).first->second : nullptr;
}

// False: the attempt is older than the one that reports.
bool Reports::begin(Job& job, std::int32_t attempt) {
  if (attempt < job.attempt) return false;
  if (attempt == job.attempt) return true;
  Ranks before = attempt == job.attempt + 1 ? std::move(job.ranks) : Ranks{};
  job = Job{.attempt = attempt, .ranks_before = std::move(before)};
  return true;
}

Noted Reports::note(api::Report report, const std::string& pod_uid, Monotonic now) {
  Job* const job = job_of({.key = key_of(report), .uid = report.job_uid});
  if (job == nullptr) return Noted::kFull;
  if (report.rank >= api::kNodesMax || !begin(*job, report.attempt)) {
    ++dropped_;
    return Noted::kOld;
  }
  report.pod_uid = pod_uid;
  const auto [entry, fresh] = job->ranks.try_emplace(report.rank);
  Heard& last = entry->second;
  const bool same_pod = !fresh && last.report.pod_uid == report.pod_uid;
  if (same_pod && report.sequence <= last.report.sequence) {
    ++dropped_;
    return Noted::kOld;
  }
  const bool worked = same_pod && last.worked;
  last.worked = worked || is_at_work(report.phase);
  const bool news = !same_pod || is_news(last.report, report) || last.worked != worked;
  const bool stepped = !same_pod || last.report.step != report.step;
  last.received = now;
  if (stepped) last.step_changed = step_time(report, now);
  last.report = std::move(report);
  const bool turn = stepped && counts_for_all(job->ranks, last.report) &&
                    (!job->woken || now >= *job->woken + kProgressEvery);
  if (!news && !turn) return Noted::kTaken;
  job->woken = now;
  if (wake_) wake_(key_of(last.report));
  return Noted::kTaken;
}

api::ReportReply Reports::reply_for(const JobId& job, std::int32_t attempt, Monotonic now) const {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || found->second.attempt != attempt) return {};
  api::ReportReply reply{.request = found->second.request,
                         .checkpoint_interval_seconds = found->second.interval_seconds};
  if (found->second.due) {
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(*found->second.due - now);
    reply.deadline_seconds = std::max<std::int64_t>(0, left.count());
  }
  return reply;
}

std::vector<RankReport> Reports::of(const JobId& id, std::int32_t attempt,
                                    const std::vector<PodSeen>& pods, Moment now) const {
  std::vector<RankReport> all;
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return all;
  const Job& job = found->second;
  if (attempt != job.attempt && attempt + 1 != job.attempt) return all;
  const Ranks& ranks = attempt == job.attempt ? job.ranks : job.ranks_before;
  std::set<std::string_view> senders;
  for (const PodSeen& pod : pods)
    if (static_cast<std::int64_t>(pod.attempt) == attempt && pod.owner_uid == id.uid)
      senders.insert(pod.uid);
  for (const auto& [rank, heard] : ranks)
    if (senders.contains(heard.report.pod_uid))
      all.push_back({.report = heard.report,
                     .received = now.at(heard.received),
                     .step_changed = now.at(heard.step_changed)});
  return all;
}

void Reports::sweep(const std::function<bool(const JobId&)>& exists) {
  std::erase_if(jobs_, [&](const auto& entry) { return !exists(entry.first); });
}

void Reports::answer_with(const JobId& id, std::int32_t attempt, const api::ReportReply& reply,
                          Monotonic now) {
  if (reply.request == api::ReportRequest::kNone && !jobs_.contains(id)) return;
  Job* const job = job_of(id);
  if (job == nullptr || !begin(*job, attempt)) return;
  job->request = reply.request;
  job->interval_seconds = reply.checkpoint_interval_seconds;
  job->due.reset();
  if (reply.deadline_seconds) job->due = now + std::chrono::seconds{*reply.deadline_seconds};
}

}  // namespace amdahl::training
