#include "cli/job_explain.hpp"

#include <algorithm>

#include "cli/gang_view.hpp"
#include "cli/text_layout.hpp"
#include "operator/api/condition.hpp"

namespace amdahl::cli {
namespace {

using api::Phase;

constexpr std::size_t kPodsNamedMax = 5;

std::string meaning_of(api::CauseClass cause) {
  for (const api::CauseClassText& row : api::cause_classes())
    if (row.value == cause) return std::string(row.meaning);
  return "";
}

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
    if (status_.pending && status_.pending->reason == "CheckpointDamaged")
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
        break;
      case Phase::kFailed:
        failed();
        break;
      case Phase::kCancelled:
        cancelled();
        break;
    }
    return std::move(told_);
  }

 private:
  std::string attempts() const {
    return status_.attempt == 1 ? "1 attempt" : fmt::format("{} attempts", status_.attempt);
  }
  std::string command(std::string_view words) const {
    return fmt::format("{} {} -n {}", seen_.called, words, told_.ns);
  }
  void evidence(std::string_view text) {
    if (!text.empty()) told_.evidence.push_back(one_line(text));
  }

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
    told_.summary = "no sound checkpoint is left to go on from, so it asks for no GPUs";
    evidence(status_.pending->message);
    told_.next.push_back(command("checkpoint verify " + told_.job));
    told_.next.push_back("to start over: pause it, set another spec.checkpoint.uri, resume it");
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
    const api::WorkersStatus workers = status_.workers.value_or(api::WorkersStatus{});
    told_.trouble = true;
    told_.summary = fmt::format("all pods have a node; {} of {} ranks have started",
                                workers.running, workers.desired);
    add_pending();
    add_waiting_pods();
  }

  void runs() {
    told_.summary = "it runs; nothing is wrong";
    const auto* suspended = api::find_condition(status_.conditions, api::condition::kSuspended);
    if (suspended != nullptr && suspended->reason == api::reason::kPauseRefused) {
      told_.trouble = true;
      told_.summary = "it was asked to pause and runs on";
      evidence(suspended->message);
      told_.next.push_back(command("resume " + told_.job) + " takes the wish back");
    }
    if (const api::AttemptStatus* before = last_failure(status_))
      evidence(fmt::format("attempt {} ended with {}: {}", before->number,
                           cause_text(*before->cause), before->cause->message));
  }

  void restarts() {
    told_.trouble = true;
    told_.summary = "an attempt has ended, and the next one begins soon";
    add_cause();
  }

  void pauses() {
    told_.summary = phase_ == Phase::kPaused ? "it is paused and holds nothing"
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
  }

  void cancelled() {
    told_.summary = "it was cancelled";
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
    const bool there = std::ranges::any_of(
        seen_.pods, [&](const kube::Pod& pod) { return pod.metadata.name == cause.pod; });
    if (there) told_.next.push_back(command("logs " + cause.pod));
  }

  const JobSeen& seen_;
  const api::TrainingJobStatus& status_;
  Phase phase_ = Phase::kUnknown;
  Explanation told_;
};

std::string end_of(const api::Cause& cause) {
  std::string text;
  if (!cause.node.empty()) text += ", node " + one_line(cause.node);
  if (cause.exit_code) text += fmt::format(", exit code {}", *cause.exit_code);
  if (cause.signal) text += fmt::format(", signal {}", *cause.signal);
  return text;
}

std::string_view certainty(api::CauseConfidence confidence) {
  switch (confidence) {
    case api::CauseConfidence::kConfirmed:
      return "confirmed: the platform says so";
    case api::CauseConfidence::kSupported:
      return "supported: the evidence fits";
    case api::CauseConfidence::kUnknown:
      break;
  }
  return "not certain";
}

std::string_view prospect(api::CauseOutlook outlook) {
  switch (outlook) {
    case api::CauseOutlook::kMayRecover:
      return "another try may get through";
    case api::CauseOutlook::kCannotRecoverUnchanged:
      return "the same again will fail the same way";
    case api::CauseOutlook::kUnknown:
      break;
  }
  return "unknown";
}

void add_cause_lines(Columns& rows, const Explanation& explanation) {
  const api::Cause& cause = *explanation.cause;
  rows.add({"Cause:", cause_text(cause) + end_of(cause)});
  rows.add({"Means:", meaning_of(cause.cause_class)});
  if (explanation.attempt > 0) rows.add({"Attempt:", fmt::format("{}", explanation.attempt)});
  rows.add({"Role:",
            fmt::format("{}, of the {} domain", enum_name(cause.role), enum_name(cause.domain))});
  rows.add({"Certainty:", std::string(certainty(cause.confidence))});
  rows.add({"Outlook:", std::string(prospect(cause.outlook))});
}

}  // namespace

std::string pause_text(const api::PauseStatus& pause) {
  const std::string why = pause.message.empty() ? "" : ": " + one_line(pause.message);
  const std::string from = pause.step ? fmt::format(" at step {}", *pause.step) : "";
  switch (pause.outcome) {
    case api::PauseOutcome::kUnknown:
      return "open" + why;
    case api::PauseOutcome::kCommitted:
      return "committed" + from + why;
    case api::PauseOutcome::kStepsLost:
      return fmt::format("not committed, {} steps have to be done again{}",
                         pause.lost_steps.value_or(0), why);
    case api::PauseOutcome::kNothingToSave:
      return "there was nothing to save" + why;
    case api::PauseOutcome::kRefused:
      return "refused, the job runs on" + why;
  }
  return "";
}

std::string cause_text(const api::Cause& cause) {
  std::string text(enum_name(cause.cause_class));
  if (cause.rank) text += fmt::format(" on rank {}", *cause.rank);
  if (!cause.pod.empty()) text += fmt::format(" (pod {})", one_line(cause.pod));
  return text;
}

Explanation explain(const JobSeen& seen) {
  return Explainer(seen).explain();
}

std::string explanation_text(const Explanation& explanation) {
  Columns rows;
  rows.add({"Job:", fmt::format("{}/{}", explanation.ns, explanation.job)});
  rows.add({"Phase:", explanation.reason.empty()
                          ? explanation.phase
                          : fmt::format("{} ({})", explanation.phase, explanation.reason)});
  rows.add({"Summary:", explanation.summary});
  if (explanation.cause) add_cause_lines(rows, explanation);
  for (const std::string& line : explanation.evidence) rows.add({"Evidence:", line});
  for (const std::string& line : explanation.next) rows.add({"Next:", line});
  return rows.text();
}

}  // namespace amdahl::cli
