#include "cli/job_view.hpp"

#include <algorithm>

#include "cli/gang_view.hpp"
#include "cli/job_account.hpp"
#include "cli/job_explain.hpp"
#include "cli/text_layout.hpp"
#include "operator/api/condition.hpp"

namespace amdahl::cli {
namespace {

std::string ago(const JobSeen& seen, const std::optional<WallTime>& then) {
  if (!then) return "?";
  return short_span(std::chrono::duration_cast<std::chrono::seconds>(seen.now - *then));
}

std::string phase_text(const JobSeen& seen) {
  const api::Summary summary = phase_of(seen.job);
  std::string text(enum_name(summary.phase));
  if (!summary.reason.empty()) text += fmt::format(" ({})", one_line(summary.reason));
  if (seen.job.metadata.deleted) text += ", being deleted";
  return text;
}

std::string wish_text(const api::TrainingJobSpec& spec) {
  if (spec.cancel) return "cancel";
  return spec.suspend ? "pause" : "run";
}

std::string shape_text(const api::TrainingJobSpec& spec) {
  std::string text =
      fmt::format("{}, {} pod{}", enum_name(spec.runtime), spec.nodes, spec.nodes == 1 ? "" : "s");
  if (spec.processes_per_node) text += fmt::format(" x {} processes", *spec.processes_per_node);
  if (const std::int64_t gpus = pod_gpus(spec); gpus > 0)
    text += fmt::format(", {} GPUs", gpus * spec.nodes);
  if (spec.scheduling.gang == api::GangScheduler::kVolcano)
    text += fmt::format(", queue {}", one_line(spec.scheduling.queue));
  return text;
}

std::string verified_text(const JobSeen& seen) {
  const auto* const ready =
      api::find_condition(seen.job.status.conditions, api::condition::kCheckpointReady);
  if (ready != nullptr && ready->reason == api::reason::kDamaged) return ", damaged";
  const auto& verified = seen.job.status.checkpoint->verified_at;
  return verified ? fmt::format(", verified {} ago", ago(seen, verified)) : ", not verified";
}

std::string checkpoint_text(const JobSeen& seen) {
  const auto& status = seen.job.status.checkpoint;
  if (seen.job.spec.checkpoint.uri.empty()) return "none: spec.checkpoint.uri is not set";
  if (!status || !status->last_committed)
    return "none committed yet, to " + one_line(seen.job.spec.checkpoint.uri);
  const api::CommittedCheckpoint& last = *status->last_committed;
  std::string text = fmt::format("step {}", last.step);
  if (last.committed_at) text += fmt::format(", committed {} ago", ago(seen, last.committed_at));
  text += verified_text(seen);
  if (!last.uri.empty()) text += ", " + one_line(last.uri);
  if (status->stall_seconds) text += fmt::format(", stall {:.2g} s", *status->stall_seconds);
  if (status->predicted_pause_seconds)
    text += fmt::format(", a pause takes {:.2g} s", *status->predicted_pause_seconds);
  if (status->interval_seconds) text += fmt::format(", every {} s", *status->interval_seconds);
  if (status->failed_saves > 0) text += fmt::format(", {} saves failed", status->failed_saves);
  return text;
}

std::string budgets_text(const JobSeen& seen) {
  const api::BudgetsStatus spent = seen.job.status.budgets.value_or(api::BudgetsStatus{});
  const api::RestartSpec& allowed = seen.job.spec.restart;
  return fmt::format("failures {} of {}, disruptions {} of {}, pauses {}", spent.failures,
                     allowed.failures_max, spent.disruptions, allowed.disruptions_max,
                     spent.pauses);
}

std::string workers_text(const api::WorkersStatus& workers) {
  return fmt::format("{} of {} ready, {} running, {} with a node, {} created", workers.ready,
                     workers.desired, workers.running, workers.bound, workers.created);
}

void add_trouble(Columns& rows, const JobSeen& seen) {
  const Explanation why = explain(seen);
  if (!why.trouble) return;
  rows.add({"Why:", why.summary});
  if (why.cause) rows.add({"Cause:", cause_text(*why.cause)});
  for (const std::string& line : why.evidence) rows.add({"", line});
  for (const std::string& line : why.next) rows.add({"Next:", line});
}

void add_measured(Columns& rows, const JobSeen& seen) {
  const api::TrainingJobStatus& status = seen.job.status;
  if (status.workers) rows.add({"Workers:", workers_text(*status.workers)});
  if (status.progress) {
    if (std::string text = progress_text(*status.progress); !text.empty())
      rows.add({"Progress:", std::move(text)});
    if (std::string text = metrics_text(*status.progress); !text.empty())
      rows.add({"Metrics:", std::move(text)});
  }
  rows.add({"Checkpoint:", checkpoint_text(seen)});
  if (status.pause) rows.add({"Pause:", pause_text(*status.pause)});
  if (status.cancel)
    rows.add(
        {"Cancel:",
         fmt::format("asked for {} ago by {}", ago(seen, status.cancel->requested_at),
                     status.cancel->requested_by.empty() ? "somebody"
                                                         : one_line(status.cancel->requested_by))});
  rows.add({"Budgets:", budgets_text(seen)});
}

std::string conditions_section(const JobSeen& seen) {
  if (seen.job.status.conditions.empty()) return "";
  Columns rows("  ");
  rows.add({"TYPE", "STATUS", "AGE", "REASON", "MESSAGE"});
  for (const api::Condition& one : seen.job.status.conditions)
    rows.add({one_line(one.type), std::string(enum_name(one.status)), ago(seen, one.changed),
              one_line(one.reason), one_line(one.message)});
  return "Conditions:\n" + rows.text();
}

std::string steps_text(const api::AttemptStatus& attempt) {
  if (!attempt.last_step) return "";
  std::string text = attempt.first_step
                         ? fmt::format("{}..{}", *attempt.first_step, *attempt.last_step)
                         : fmt::format("..{}", *attempt.last_step);
  if (attempt.lost_steps.value_or(0) > 0) text += fmt::format(", {} lost", *attempt.lost_steps);
  return text;
}

std::string lasted_text(const JobSeen& seen, const api::AttemptStatus& attempt) {
  if (!attempt.started_at) return "";
  const WallTime end = attempt.ended_at.value_or(seen.now);
  return short_span(std::chrono::duration_cast<std::chrono::seconds>(end - *attempt.started_at));
}

std::string attempts_section(const JobSeen& seen) {
  if (seen.job.status.attempts.empty()) return "";
  Columns rows("  ");
  rows.add({"NUMBER", "OUTCOME", "LASTED", "FROM", "STEPS", "GPU-SECONDS", "CAUSE"});
  for (const api::AttemptStatus& one : seen.job.status.attempts)
    rows.add({fmt::format("{}", one.number),
              one.outcome == api::AttemptOutcome::kUnknown ? "goes on"
                                                           : std::string(enum_name(one.outcome)),
              lasted_text(seen, one),
              one.resumed_from_step ? fmt::format("{}", *one.resumed_from_step) : "",
              steps_text(one), fmt::format("{}", one.held_gpu_seconds),
              one.cause ? cause_text(*one.cause) : ""});
  return "Attempts:\n" + rows.text();
}

std::string gpu_section(const JobSeen& seen) {
  const auto& account = seen.job.status.gpu_seconds;
  if (!account) return "";
  Columns rows("  ");
  for (const PhaseShare& share : shares_of(*account))
    rows.add({share.name, fmt::format("{}", share.seconds), percent_text(share.share)});
  return fmt::format("GPU-seconds: {} held, {} useful\n{}", account->held,
                     percent_text(useful_share(*account)), rows.text());
}

WallTime time_of(const kube::Event& event) {
  if (event.series && event.series->last_observed) return *event.series->last_observed;
  return event.time.value_or(event.metadata.created.value_or(WallTime{}));
}

std::vector<const kube::Event*> newest_events(const JobSeen& seen, std::size_t count_max) {
  std::vector<const kube::Event*> events;
  events.reserve(seen.events.size());
  for (const kube::Event& event : seen.events) events.push_back(&event);
  std::ranges::sort(events, [](const kube::Event* a, const kube::Event* b) {
    return std::pair(time_of(*a), a->metadata.name) < std::pair(time_of(*b), b->metadata.name);
  });
  if (events.size() > count_max)
    events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(count_max));
  return events;
}

std::string events_section(const JobSeen& seen, std::size_t count_max) {
  Columns rows("  ");
  for (const kube::Event* event : newest_events(seen, count_max)) {
    const std::int32_t count = event->series ? event->series->count : 1;
    rows.add({ago(seen, time_of(*event)) + (count > 1 ? fmt::format(" (x{})", count) : ""),
              one_line(event->type), one_line(event->reason), one_line(event->note)});
  }
  return rows.empty() ? "" : "Events:\n" + rows.text();
}

std::string indent(const std::string& text) {
  std::string indented;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    indented += "  " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return indented;
}

std::string headline(const JobSeen& seen) {
  std::string text =
      fmt::format("{}/{}: {}", seen.job.metadata.ns, seen.job.metadata.name, phase_text(seen));
  if (const auto& progress = seen.job.status.progress)
    for (const std::string& more : {progress_text(*progress), metrics_text(*progress)})
      if (!more.empty()) text += "; " + more;
  return text;
}

}  // namespace

std::string progress_text(const api::ProgressStatus& progress) {
  if (!progress.step) return "";
  std::string text = fmt::format("step {}", *progress.step);
  if (progress.total_steps) text += fmt::format(" of {}", *progress.total_steps);
  if (progress.percent) text += fmt::format(" ({}%)", *progress.percent);
  if (progress.step_seconds) text += fmt::format(", {:.3g} s a step", *progress.step_seconds);
  if (progress.eta_seconds)
    text += fmt::format(", about {} left", short_span(std::chrono::seconds{*progress.eta_seconds}));
  return text;
}

std::string metrics_text(const api::ProgressStatus& progress) {
  std::string text;
  for (const api::MetricStatus& metric : progress.metrics)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one_line(metric.name),
                        one_line(metric.value));
  return text;
}

std::string describe_text(const JobSeen& seen) {
  Columns rows;
  rows.add({"Name:", seen.job.metadata.name});
  rows.add({"Namespace:", seen.job.metadata.ns});
  rows.add({"Phase:", phase_text(seen)});
  rows.add({"Asked to:", wish_text(seen.job.spec)});
  rows.add({"Age:", ago(seen, seen.job.metadata.created)});
  rows.add({"Gang:", shape_text(seen.job.spec)});
  add_trouble(rows, seen);
  add_measured(rows, seen);
  const std::string tree = gang_tree(seen);
  return rows.text() + gpu_section(seen) + conditions_section(seen) + attempts_section(seen) +
         (tree.empty() ? "" : "Pods:\n" + indent(tree)) + events_section(seen, kEventLinesMax);
}

std::string live_view(const JobSeen& seen) {
  Columns rows;
  add_trouble(rows, seen);
  if (seen.job.status.pause) rows.add({"Pause:", pause_text(*seen.job.status.pause)});
  return headline(seen) + "\n" + rows.text() + gang_tree(seen) +
         events_section(seen, kLiveEventLinesMax);
}

std::vector<Fact> facts_of(const JobSeen& seen) {
  std::vector<Fact> facts = {{.key = "job", .text = headline(seen)}};
  const Explanation why = explain(seen);
  std::string told = why.trouble ? why.summary : "";
  if (why.cause) told += "; " + cause_text(*why.cause);
  for (const std::string& line : why.evidence) told += "; " + line;
  if (why.trouble) facts.push_back({.key = "why", .text = "why: " + told});
  if (seen.job.status.pause)
    facts.push_back({.key = "pause", .text = "pause: " + pause_text(*seen.job.status.pause)});
  const std::vector<RankPod> ranks = by_rank(seen.pods);
  for (const RankPod& one : ranks)
    facts.push_back({.key = "pod " + one.pod->metadata.uid.str(),
                     .text = fmt::format(
                         "attempt {} rank {} ({}{}): {}", one.attempt, one.rank,
                         one_line(one.pod->metadata.name),
                         one.pod->spec.node.empty() ? "" : " on " + one_line(one.pod->spec.node),
                         pod_state(*one.pod))});
  for (const kube::Event* event : newest_events(seen, kEventLinesMax))
    facts.push_back({.key = "event " + event->metadata.uid,
                     .text = fmt::format("event: {} {}: {}", one_line(event->type),
                                         one_line(event->reason), one_line(event->note))});
  return facts;
}

std::string ChangedLines::take(const std::vector<Fact>& facts) {
  std::string text;
  std::map<std::string, std::string> now;
  for (const Fact& fact : facts) {
    const auto before = known_.find(fact.key);
    if (before == known_.end() || before->second != fact.text) text += fact.text + "\n";
    now[fact.key] = fact.text;
  }
  known_ = std::move(now);
  return text;
}

}  // namespace amdahl::cli
