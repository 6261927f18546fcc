#include "cli/job_view.hpp"

#include <algorithm>

#include "cli/gang_view.hpp"
#include "cli/job_account.hpp"
#include "cli/job_explain.hpp"
#include "cli/job_sections.hpp"
#include "cli/pause_words.hpp"
#include "cli/text_layout.hpp"
#include "operator/api/condition.hpp"

namespace amdahl::cli {
namespace {

std::string phase_text(const JobSeen& seen) {
  const api::Summary summary = phase_of(seen.job);
  std::string text(enum_name(summary.phase));
  if (!summary.reason.empty() && summary.reason != text)
    text += fmt::format(" ({})", one_line(summary.reason));
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
  if (const std::int64_t gpus = pod_gpus(spec) * spec.nodes; gpus > 0)
    text += fmt::format(", {} GPU{}", gpus, gpus == 1 ? "" : "s");
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
  const std::string& uri = seen.job.spec.checkpoint.uri;
  if (!status || !status->last_committed)
    return (uri.empty() ? "none: spec.checkpoint.uri is not set"
                        : "none committed yet, to " + one_line(uri)) +
           (status && status->failed_saves > 0 ? "; " + failed_saves_text(*status) : "");
  const api::CommittedCheckpoint& last = *status->last_committed;
  std::string text = fmt::format("step {}", last.step);
  if (last.committed_at) text += fmt::format(", committed {} ago", ago(seen, last.committed_at));
  text += verified_text(seen);
  if (!last.uri.empty()) text += ", " + one_line(last.uri);
  if (status->stall_seconds) text += fmt::format(", stall {:.2g} s", *status->stall_seconds);
  if (status->predicted_pause_seconds)
    text += fmt::format(", a pause takes {:.2g} s", *status->predicted_pause_seconds);
  if (status->interval_seconds) text += fmt::format(", every {} s", *status->interval_seconds);
  if (status->failed_saves > 0) text += "; " + failed_saves_text(*status);
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

// A pause whose message was told already is told without it.
std::string pause_once(const api::PauseStatus& pause, Told& told) {
  api::PauseStatus shown = pause;
  shown.message = told.once(pause.message);
  return pause_text(shown);
}

void add_trouble(Columns& rows, const JobSeen& seen, Told& told) {
  const Explanation why = explain(seen);
  if (why.trouble) {
    rows.add({"Why:", told.once(why.summary)});
    if (why.cause) rows.add({"Cause:", cause_text(*why.cause)});
    for (const std::string& line : why.evidence)
      if (std::string fresh = told.once(line); !fresh.empty()) rows.add({"", std::move(fresh)});
  }
  for (const std::string& line : why.next) {
    if (line == kNoStepUnderstood) continue;  // the progress says so
    if (std::string fresh = told.once(line); !fresh.empty()) rows.add({"Next:", std::move(fresh)});
  }
}

void add_measured(Columns& rows, const JobSeen& seen, Told& told) {
  const api::TrainingJobStatus& status = seen.job.status;
  if (status.workers) rows.add({"Workers:", workers_text(*status.workers)});
  if (status.progress) {
    if (std::string text = progress_text(seen); !text.empty())
      rows.add({"Progress:", std::move(text)});
    if (std::string text = metrics_text(*status.progress); !text.empty())
      rows.add({"Metrics:", std::move(text)});
  }
  rows.add({"Checkpoint:", checkpoint_text(seen)});
  if (status.pause) rows.add({"Pause:", pause_once(*status.pause, told)});
  if (status.cancel) {
    const std::string by = one_line(status.cancel->requested_by);
    rows.add({"Cancel:", fmt::format("requested {} ago{}", ago(seen, status.cancel->requested_at),
                                     by.empty() ? "" : " by " + by)});
  }
  rows.add({"Budgets:", budgets_text(seen)});
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
    for (const std::string& more : {progress_text(seen), metrics_text(*progress)})
      if (!more.empty()) text += "; " + more;
  return text;
}

}  // namespace

std::string progress_text(const JobSeen& seen) {
  if (!seen.job.status.progress) return "";
  const api::ProgressStatus& progress = *seen.job.status.progress;
  if (no_step_was_understood(seen.job)) return "unknown: " + std::string(kNoStepUnderstood);
  if (!progress.step) return "";
  const api::Phase phase = phase_of(seen.job).phase;
  const bool runs = phase == api::Phase::kRunning || phase == api::Phase::kPausing;
  std::string text = fmt::format("step {}", *progress.step);
  if (progress.total_steps) text += fmt::format(" of {}", *progress.total_steps);
  if (progress.percent) text += fmt::format(" ({}%)", *progress.percent);
  if (runs && is_silent(progress, seen.now)) return text + ", " + silence_text(progress, seen.now);
  if (progress.step_seconds) text += fmt::format(", {:.3g} s per step", *progress.step_seconds);
  if (runs && progress.eta_seconds)
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
  Told told;
  add_trouble(rows, seen, told);
  add_measured(rows, seen, told);
  const std::string tree = gang_tree(seen);
  std::string text = rows.text() + gpu_section(seen);
  text += conditions_section(seen, told) + attempts_section(seen);
  if (!tree.empty()) text += "Pods:\n" + indent(tree);
  return text + events_section(seen, kEventLinesMax, told);
}

std::string live_view(const JobSeen& seen) {
  Columns rows;
  Told told;
  add_trouble(rows, seen, told);
  if (seen.job.status.pause) rows.add({"Pause:", pause_once(*seen.job.status.pause, told)});
  return headline(seen) + "\n" + rows.text() + gang_tree(seen) +
         events_section(seen, kLiveEventLinesMax, told);
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
