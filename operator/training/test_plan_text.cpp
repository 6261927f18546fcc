// Plans as text, for scenario files.

#include <map>
#include <set>

#include "operator/training/test_scenario.hpp"

namespace amdahl::training {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

std::string quoted(const std::string& text) {
  return text.find_first_of(" =\"") == std::string::npos && !text.empty() ? text
                                                                          : "\"" + text + "\"";
}

template <class T>
void put(Lines& lines, std::string key, const std::optional<T>& value) {
  lines.emplace_back(std::move(key), value ? fmt::format("{}", *value) : "");
}

void put_attempt(Lines& lines, const api::AttemptStatus& attempt) {
  const std::string key = fmt::format("attempts.{}.", attempt.number);
  lines.emplace_back(key + "outcome", attempt.outcome == api::AttemptOutcome::kUnknown
                                          ? ""
                                          : enum_name(attempt.outcome));
  put(lines, key + "lastStep", attempt.last_step);
  put(lines, key + "lostSteps", attempt.lost_steps);
  put(lines, key + "resumedFrom", attempt.resumed_from_step);
  lines.emplace_back(key + "held", attempt.held_gpu_seconds == 0
                                       ? ""
                                       : fmt::format("{}", attempt.held_gpu_seconds));
  if (attempt.trained_gpu_seconds > 0)
    lines.emplace_back(key + "trained", fmt::format("{}", attempt.trained_gpu_seconds));
  if (!attempt.cause) return;
  lines.emplace_back(key + "cause", enum_name(attempt.cause->cause_class));
  lines.emplace_back(key + "outlook", enum_name(attempt.cause->outlook));
  put(lines, key + "rank", attempt.cause->rank);
}

void put_pause(Lines& lines, const api::PauseStatus& pause) {
  const bool open = pause.outcome == api::PauseOutcome::kUnknown;
  lines.emplace_back("pause", open ? "open" : enum_name(pause.outcome));
  put(lines, "pause.step", pause.step);
  put(lines, "pause.lostSteps", pause.lost_steps);
  lines.emplace_back("pause.message", pause.message);
}

Lines flat(const api::TrainingJobStatus& status) {
  Lines lines;
  lines.emplace_back("phase", enum_name(status.phase));
  lines.emplace_back("reason", status.reason);
  lines.emplace_back("attempt", fmt::format("{}", status.attempt));
  put(lines, "restarts", status.restarts);
  if (status.workers)
    lines.emplace_back("workers", fmt::format("{}/{} bound {} running {}", status.workers->created,
                                              status.workers->desired, status.workers->bound,
                                              status.workers->running));
  if (status.budgets) {
    lines.emplace_back("failures", fmt::format("{}", status.budgets->failures));
    lines.emplace_back("disruptions", fmt::format("{}", status.budgets->disruptions));
    lines.emplace_back("pauses", fmt::format("{}", status.budgets->pauses));
  }
  for (const api::AttemptStatus& attempt : status.attempts) put_attempt(lines, attempt);
  if (status.pause) put_pause(lines, *status.pause);
  if (status.cancel) {
    lines.emplace_back("cancel.by", status.cancel->requested_by);
    put(lines, "cancel.lastStep", status.cancel->last_step);
  }
  if (status.pending) {
    lines.emplace_back("pending", status.pending->reason);
    lines.emplace_back("pending.message", status.pending->message);
  }
  if (status.progress) {
    put(lines, "step", status.progress->step);
    put(lines, "percent", status.progress->percent);
  }
  if (status.checkpoint && status.checkpoint->last_committed)
    lines.emplace_back("checkpoint", fmt::format("{}", status.checkpoint->last_committed->step));
  if (status.checkpoint) {
    lines.emplace_back("verified", status.checkpoint->verified_at ? "yes" : "");
    put(lines, "interval", status.checkpoint->interval_seconds);
    lines.emplace_back("failedSaves", fmt::format("{}", status.checkpoint->failed_saves));
    if (status.checkpoint->last_failed_save)
      lines.emplace_back("saveError", status.checkpoint->last_failed_save->message);
  }
  if (status.gpu_seconds) {
    lines.emplace_back("gpus.held", fmt::format("{}", status.gpu_seconds->held));
    std::string phases;
    for (const api::PhaseSeconds& phase : status.gpu_seconds->phases)
      phases += fmt::format("{}{} {}", phases.empty() ? "" : ", ", phase.name, phase.seconds);
    lines.emplace_back("gpus.phases", phases);
    if (status.gpu_seconds->settled)
      lines.emplace_back("gpus.settled", fmt::format("{}", status.gpu_seconds->settled->attempt));
  }
  lines.emplace_back("elapsed",
                     fmt::format("queue {} start {} active {}", status.elapsed.queue_seconds,
                                 status.elapsed.start_seconds, status.elapsed.active_seconds));
  for (const api::Condition& condition : status.conditions) {
    lines.emplace_back(condition.type,
                       fmt::format("{}/{}", enum_name(condition.status), condition.reason));
    lines.emplace_back(condition.type + ".message", condition.message);
  }
  lines.emplace_back("epoch", fmt::format("{}", status.epoch));
  return lines;
}

// Not worth a line when they have the value that everybody expects.
bool is_usual(const std::string& key, const std::string& value) {
  static const std::set<std::pair<std::string, std::string>> kUsual = {
      {"restarts", "0"},
      {"failures", "0"},
      {"disruptions", "0"},
      {"pauses", "0"},
      {"interval", "416"},
      {"failedSaves", "0"},
      {"elapsed", "queue 0 start 0 active 0"},
      {"epoch", "1"},
      {"CheckpointReady", "False/NotConfigured"},
      {"Succeeded", "False/NotFinished"},
      {"Failed", "False/NotFinished"},
      {"Cancelled", "False/NotFinished"},
      {"Suspended", "False/NotSuspended"}};
  return kUsual.contains({key, value});
}

std::string status_text(const api::TrainingJobStatus& before, const api::TrainingJobStatus& after) {
  std::map<std::string, std::string> old;
  for (const auto& [key, value] : flat(before)) old[key] = value;
  std::string text = fmt::format("status phase={}", enum_name(after.phase));
  std::set<std::string> seen;
  for (const auto& [key, value] : flat(after)) {
    seen.insert(key);
    const auto was = old.find(key);
    const std::string was_value = was == old.end() ? "" : was->second;
    if (key == "phase" || value == was_value) continue;
    if (was == old.end() && is_usual(key, value)) continue;
    text += fmt::format("\n  {}={}", key, quoted(value));
  }
  for (const auto& [key, value] : old)
    if (!seen.contains(key) && !value.empty()) text += fmt::format("\n  {}=", key);
  return text;
}

// "0 1 2 7", or "0..999".
std::string ranks_text(const std::vector<std::uint32_t>& ranks) {
  constexpr std::size_t kListed = 4;
  if (ranks.size() > kListed && ranks.back() - ranks.front() + 1 == ranks.size())
    return fmt::format("{}..{}", ranks.front(), ranks.back());
  return fmt::format("{}", fmt::join(ranks, " "));
}

template <class List>
std::string names_text(const List& list) {
  constexpr std::size_t kListed = 8;
  std::string text;
  for (std::size_t i = 0; i < list.size() && i < kListed; ++i) text += " " + list[i].name;
  if (list.size() > kListed) text += fmt::format(" and {} more", list.size() - kListed);
  return text;
}

std::string acts_text(const Plan& plan) {
  std::string text;
  if (!plan.confirm_absent.empty())
    text += fmt::format("if gone {}\n", fmt::join(plan.confirm_absent, " "));
  if (!plan.release_pods.empty()) text += "release" + names_text(plan.release_pods) + "\n";
  if (!plan.delete_pods.empty())
    text += "delete pods" + names_text(plan.delete_pods) +
            fmt::format(" because {}\n", plan.delete_pods.front().why);
  if (plan.delete_group) text += "delete group\n";
  if (plan.delete_service) text += "delete service\n";
  if (plan.create_service) text += "create service\n";
  if (plan.create_group)
    text += fmt::format("create group {}\n", (*plan.create_group)["spec"].dump());
  if (plan.update_group)
    text += fmt::format("update group {}\n", (*plan.update_group)["spec"].dump());
  if (!plan.create_pods.empty())
    text += fmt::format("create pods {}\n", ranks_text(plan.create_pods));
  return text;
}

}  // namespace

std::string plan_text(const Plan& plan, const api::TrainingJobStatus& before) {
  std::string text = fmt::format("policy {}\n", plan.policy) + acts_text(plan);
  if (plan.status) text += status_text(before, *plan.status) + "\n";
  if (plan.delete_job) text += "delete job\n";
  if (plan.look_at_checkpoint) text += fmt::format("look at {}\n", plan.look_at_checkpoint->uri);
  for (const PlannedEvent& event : plan.events)
    text += fmt::format("event {} {} {}\n", event.warning ? "Warning" : "Normal", event.reason,
                        quoted(event.note));
  if (plan.reply.request != api::ReportRequest::kNone)
    text += fmt::format("ask {} {}s\n", enum_name(plan.reply.request),
                        plan.reply.deadline_seconds.value_or(0));
  const std::string interval =
      fmt::format("{}", plan.reply.checkpoint_interval_seconds.value_or(0));
  if (plan.reply.checkpoint_interval_seconds && !is_usual("interval", interval))
    text += fmt::format("tell interval {}s\n", interval);
  if (plan.requeue_after) text += fmt::format("again {}\n", format_duration(*plan.requeue_after));
  return text;
}

}  // namespace amdahl::training
