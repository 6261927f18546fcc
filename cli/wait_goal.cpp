#include "cli/wait_goal.hpp"

#include <algorithm>
#include <array>

#include "cli/text_layout.hpp"
#include "operator/api/condition.hpp"

namespace amdahl::cli {
namespace {

namespace condition = api::condition;

constexpr std::array<std::string_view, 7> kConditions = {
    condition::kAdmitted,  condition::kRunning, condition::kSuspended, condition::kCheckpointReady,
    condition::kSucceeded, condition::kFailed,  condition::kCancelled};

bool may_be_a_condition(std::string_view name) {
  return !name.empty() && name.size() <= api::kLabelMax && name.front() >= 'A' &&
         name.front() <= 'Z';
}

std::string ended_text(const TrainingJob& job) {
  const api::Summary summary = phase_of(job);
  std::string text = fmt::format("{} has ended: {}", job.metadata.name, enum_name(summary.phase));
  if (!summary.reason.empty()) text += fmt::format(" ({})", one_line(summary.reason));
  return text;
}

}  // namespace

Result<Goal> parse_goal(std::string_view text) {
  constexpr std::string_view kPrefix = "condition=";
  Goal goal{.text = std::string(text)};
  const bool any_name = text.starts_with(kPrefix);
  std::string_view name = any_name ? text.substr(kPrefix.size()) : text;
  if (const std::size_t equals = name.find('='); equals != std::string_view::npos) {
    const auto status = parse_enum<api::ConditionStatus>(name.substr(equals + 1));
    if (!status)
      return fail(Errc::kInvalid, "\"{}\": the status of a condition is True, False or Unknown",
                  text);
    goal.status = *status;
    name = name.substr(0, equals);
  } else if (name == "Finished") {
    goal.finished = true;
    return goal;
  }
  if (name == "Paused" && !any_name) name = condition::kSuspended;
  if (!may_be_a_condition(name) ||
      (!any_name && std::ranges::find(kConditions, name) == kConditions.end()))
    return fail(Errc::kInvalid,
                "\"{}\" is nothing to wait for: Running, Paused, Succeeded, Failed, Cancelled, "
                "Finished, or a condition ({})",
                text, fmt::join(kConditions, ", "));
  goal.condition = name;
  return goal;
}

GoalVerdict judge(const Goal& goal, const TrainingJob& job) {
  const bool ended = is_finished(phase_of(job).phase);
  if (goal.finished)
    return ended ? GoalVerdict{.state = GoalState::kReached, .said = ended_text(job)}
                 : GoalVerdict{};
  const bool fresh = ended || job.status.observed_generation >= job.metadata.generation;
  const api::Condition* found = api::find_condition(job.status.conditions, goal.condition);
  if (fresh && found != nullptr && found->status == goal.status)
    return {.state = GoalState::kReached,
            .said = fmt::format("{} is {}{}", job.metadata.name, goal.text,
                                found->message.empty() ? "" : ": " + one_line(found->message))};
  if (ended) return {.state = GoalState::kNever, .said = ended_text(job)};
  return {};
}

}  // namespace amdahl::cli
