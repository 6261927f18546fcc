#include "operator/api/phase.hpp"

#include <optional>
#include <utility>

namespace amdahl::api {
namespace {

using Conditions = std::vector<Condition>;

std::string reason_of(const Conditions& conditions, std::string_view type) {
  const Condition* found = find_condition(conditions, type);
  return found == nullptr ? std::string() : found->reason;
}

std::optional<Summary> finished(const TrainingJobStatus& status) {
  for (const auto& [type, phase] : {std::pair(condition::kCancelled, Phase::kCancelled),
                                    std::pair(condition::kFailed, Phase::kFailed),
                                    std::pair(condition::kSucceeded, Phase::kSucceeded)}) {
    if (is_true(status.conditions, type))
      return Summary{.phase = phase, .reason = reason_of(status.conditions, type)};
  }
  return std::nullopt;
}

std::optional<Summary> stopping(const TrainingJobStatus& status) {
  std::string why = reason_of(status.conditions, condition::kSuspended);
  if (is_true(status.conditions, condition::kSuspended))
    return Summary{.phase = Phase::kPaused, .reason = std::move(why)};
  if (why == reason::kPausing) return Summary{.phase = Phase::kPausing, .reason = std::move(why)};
  return std::nullopt;
}

Summary waiting(const TrainingJobStatus& status) {
  std::string why = reason_of(status.conditions, condition::kAdmitted);
  const bool has_pods = status.workers && status.workers->created > 0;
  const Phase phase = why == reason::kQueued || has_pods ? Phase::kQueued : Phase::kPending;
  if (status.pending && !status.pending->reason.empty()) why = status.pending->reason;
  return {.phase = phase, .reason = std::move(why)};
}

}  // namespace

Summary summarize(const TrainingJobStatus& status) {
  if (auto summary = finished(status)) return *std::move(summary);
  if (auto summary = stopping(status)) return *std::move(summary);
  std::string running = reason_of(status.conditions, condition::kRunning);
  if (is_true(status.conditions, condition::kRunning))
    return {.phase = Phase::kRunning, .reason = std::move(running)};
  if (running == reason::kRestarting)
    return {.phase = Phase::kRestarting, .reason = std::move(running)};
  if (is_true(status.conditions, condition::kAdmitted))
    return {.phase = Phase::kStarting, .reason = std::move(running)};
  return waiting(status);
}

}  // namespace amdahl::api
