#include "cli/job_explain.hpp"

#include <algorithm>

#include "cli/gang_view.hpp"
#include "cli/pause_words.hpp"
#include "cli/text_layout.hpp"
#include "operator/api/condition.hpp"

namespace amdahl::cli {
namespace {

using api::Phase;
constexpr std::size_t kPodsNamedMax = 5;

// The newest attempt that ended with a cause that was not our own wish.
const api::AttemptStatus* last_failure(const api::TrainingJobStatus& status) {
  for (auto attempt = status.attempts.rbegin(); attempt != status.attempts.rend(); ++attempt)
    if (attempt->cause && (attempt->outcome == api::AttemptOutcome::kFailed ||
                           attempt->outcome == api::AttemptOutcome::kDisrupted))
      return &*attempt;
  return nullptr;
}

class Explainer {
 public:
  explicit Explainer(const JobSeen& seen) : seen_(seen), status_(seen.job.status) {
    const api::Summary summary = phase_of(seen.job);
    phase_ = summary.phase;
    told_.job = seen.job.metadata.name;
    told_.ns = seen.job.metadata.ns;
    told_.phase = enum_name(summary.phase);
    told_.reason = one_line(summary.reason);
  }

  Explanation explain() {
    if (status_.pending && status_.pending->reason.starts_with("Checkpoint"))
      return waits_for_checkpoint();
    switch (phase_) {
      case Phase::kUnknown:
      case Phase::kPending:
      case Phase::kQueued:
        waits();
        break;
      case Phase::kStarting:
        starts();
        break;
      case Phase::kRunning:
        runs();
        break;
      case Phase::kRestarting:
        restarts();
        break;
      case Phase::kPausing:
      case Phase::kPaused:
        pauses();
        break;
      case Phase::kSucceeded:
        told_.summary = fmt::format("it is done, after {}", attempts());
        add_rerun();
        break;
      case Phase::kFailed:
        failed();
        break;
      case Phase::kCancelled:
        cancelled();
        break;
    }
    add_failed_saves();
    if (should_have_steps()) told_.next.push_back(std::string(kNoStepUnderstood));
    return std::move(told_);
  }

 private:
  // A job that failed, or starts, may have had no time for a step.
  bool should_have_steps() const {
    const Phase phase = phase_of(seen_.job).phase;
    const bool ran = phase == Phase::kRunning || phase == Phase::kPausing ||
                     phase == Phase::kPaused || phase == Phase::kSucceeded;
    return ran && no_step_was_understood(seen_.job);
  }
  std::string attempts() const {
    return status_.attempt == 1 ? "1 attempt" : fmt::format("{} attempts", status_.attempt);
  }
  std::string command(std::string_view words) const {
    return fmt::format("{} {} -n {}", seen_.called, words, told_.ns);
  }
  // Each fact once: a condition often repeats the message of the cause.
  void evidence(std::string_view text) {
    std::string line = one_line(text);
    if (line.empty()) return;
    for (std::string& told : told_.evidence) {
      if (told.contains(line)) return;
      if (!line.contains(told)) continue;
      told = std::move(line);
      return;
    }
    told_.evidence.push_back(std::move(line));
  }
  void add_rerun() { told_.next.push_back(command("rerun " + told_.job)); }

  void waits() {
    told_.trouble = true;
    if (status_.conditions.empty() && status_.observed_generation == 0) {
      told_.summary = "no operator has looked at it yet";
      told_.next.push_back(fmt::format("see that the Amdahl operator runs and serves namespace {}",
                                       seen_.job.metadata.ns));
      return;
    }
    told_.summary = phase_ == Phase::kQueued ? "the gang waits for its nodes"
                                             : "nothing of the gang exists yet";
    add_pending();
    add_waiting_pods();
    if (const auto& deadline = seen_.job.spec.deadlines.queue.fixed)
      evidence(fmt::format("it fails when it has waited for {} (spec.deadlines.queue)",
                           format_duration(deadline->span)));
  }

  // Whatever its phase: it asks for nothing, and only people can change that.
  Explanation waits_for_checkpoint() {
    told_.trouble = true;
    told_.summary = "it cannot use the checkpoints at its checkpoint.uri, so it asks for no GPUs";
    evidence(status_.pending->message);
    told_.next.push_back(command("checkpoint verify " + told_.job));
    told_.next.push_back("to start over: pause it, set another spec.checkpoint.uri, resume it");
    add_failed_saves();
    return std::move(told_);
  }

  void add_pending() {
    if (status_.pending && !status_.pending->message.empty())
      return evidence(fmt::format("{}: {}", status_.pending->reason, status_.pending->message));
    const auto* admitted = api::find_condition(status_.conditions, api::condition::kAdmitted);
    if (admitted != nullptr && !admitted->message.empty())
      evidence(fmt::format("{}: {}", admitted->reason, admitted->message));
  }

  // Pods of the newest attempt that do not run.
  void add_waiting_pods() {
    const std::vector<RankPod> ranks = by_rank(seen_.pods);
    std::size_t named = 0;
    std::size_t more = 0;
    for (const RankPod& one : ranks) {
      if (one.attempt != ranks.front().attempt) break;
      if (one.pod->status.phase == kube::PodPhase::kRunning && !one.pod->metadata.deleted) continue;
      if (++named > kPodsNamedMax)
        ++more;
      else
        evidence(
            fmt::format("rank {} ({}): {}", one.rank, one.pod->metadata.name, pod_state(*one.pod)));
    }
    if (more > 0) evidence(fmt::format("and {} more ranks", more));
  }

  void starts() {
    const auto workers = status_.workers.value_or(api::WorkersStatus{});
    told_.trouble = true;
    told_.summary = fmt::format("all pods have a node; {} of {} ranks have started",
                                workers.running, workers.desired);
    add_pending();
    add_waiting_pods();
  }

  void runs() {
    told_.trouble = status_.pending.has_value();
    told_.summary = told_.trouble ? "it runs; this looks wrong" : "it runs; nothing is wrong";
    if (told_.trouble) add_pending();
    if (const auto& progress = status_.progress; progress && is_silent(*progress, seen_.now)) {
      told_.trouble = true;
      told_.summary = "it runs, and there was " + silence_text(*progress, seen_.now);
      told_.next.push_back(command("logs " + told_.job));
    }
    const auto* suspended = api::find_condition(status_.conditions, api::condition::kSuspended);
    if (suspended != nullptr && suspended->reason == api::reason::kPauseRefused) {
      told_.trouble = true;
      told_.summary = "it was asked to pause and runs on";
      evidence(suspended->message);
      told_.next.push_back(command("resume " + told_.job) + " withdraws the pause");
    }
    if (const api::AttemptStatus* before = last_failure(status_))
      evidence(fmt::format("attempt {} ended with {}: {}", before->number,
                           cause_text(*before->cause), before->cause->message));
  }

  void add_failed_saves() {
    if (!status_.checkpoint || !saves_fail(*status_.checkpoint)) return;
    const bool runs = phase_ == Phase::kRunning;
    if (runs && !told_.trouble) told_.summary = "it runs, but its checkpoints cannot be written";
    told_.trouble = told_.trouble || !is_finished(phase_);
    evidence(failed_saves_text(*status_.checkpoint));
    const std::string& uri = seen_.job.spec.checkpoint.uri;
    told_.next.push_back("see that the trainer can write " +
                         (uri.empty() ? "its checkpoints" : "to " + one_line(uri)) +
                         " (permissions, space, credentials)" +
                         (runs && !uri.empty() ? "; until then a pause is refused" : ""));
  }

  void restarts() {
    told_.trouble = true;
    told_.summary = "an attempt has ended, and the next one begins soon";
    add_cause();
  }

  void pauses() {
    told_.summary = phase_ == Phase::kPaused ? "it is paused: all pods are deleted"
                                             : "a pause was asked for and is not done yet";
    if (status_.pause) evidence(pause_text(*status_.pause));
    if (phase_ == Phase::kPaused) told_.next.push_back(command("resume " + told_.job));
  }

  void failed() {
    told_.trouble = true;
    const auto* condition = api::find_condition(status_.conditions, api::condition::kFailed);
    told_.summary = fmt::format("it failed for good ({}), after {}", told_.reason, attempts());
    if (condition != nullptr) evidence(condition->message);
    add_cause();
    add_rerun();
  }

  void cancelled() {
    told_.summary = "it was cancelled";
    add_rerun();
    if (!status_.cancel) return;
    if (!status_.cancel->requested_by.empty())
      told_.summary += " by " + one_line(status_.cancel->requested_by);
    if (status_.cancel->last_step)
      evidence(fmt::format("the last step was {}", *status_.cancel->last_step));
  }

  void add_cause() {
    const api::AttemptStatus* attempt = last_failure(status_);
    if (attempt == nullptr) return;
    const api::Cause& cause = *attempt->cause;
    told_.attempt = attempt->number;
    told_.cause = cause;
    evidence(cause.message);
    if (!cause.hint.empty()) told_.next.push_back(one_line(cause.hint));
    add_logs(*attempt);
  }

  // The log of a rank outlives its pod.
  void add_logs(const api::AttemptStatus& attempt) {
    const api::Cause& cause = *attempt.cause;
    const bool there = std::ranges::any_of(
        seen_.pods, [&](const kube::Pod& pod) { return pod.metadata.name == cause.pod; });
    if (there)
      told_.next.push_back(command("logs " + cause.pod));
    else if (cause.rank)
      told_.next.push_back(command(
          fmt::format("logs {} --attempt {} --rank {}", told_.job, attempt.number, *cause.rank)));
  }

  const JobSeen& seen_;
  const api::TrainingJobStatus& status_;
  Phase phase_ = Phase::kUnknown;
  Explanation told_;
};

}  // namespace

std::string silence_text(const api::ProgressStatus& progress, WallTime now) {
  const WallTime last = progress.last_step_at.value_or(now);
  return "no step for " + short_span(std::chrono::duration_cast<std::chrono::seconds>(now - last));
}

std::string cause_text(const api::Cause& cause) {
  std::string text(enum_name(cause.cause_class));
  if (cause.rank) text += fmt::format(" on rank {}", *cause.rank);
  if (!cause.pod.empty()) text += fmt::format(" (pod {})", one_line(cause.pod));
  return text;
}

bool no_step_was_understood(const TrainingJob& job) {
  const auto& progress = job.status.progress;
  return progress && !progress->step && progress->source == api::StepSource::kUnknown;
}

Explanation explain(const JobSeen& seen) {
  return Explainer(seen).explain();
}

}  // namespace amdahl::cli
