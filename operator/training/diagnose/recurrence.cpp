#include "operator/training/diagnose/recurrence.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace amdahl::training {
namespace {

using api::AttemptOutcome;
using api::CauseClass;

enum class Artifact : std::uint8_t { kNone, kClass, kNode, kMessage };

Artifact artifact_kind(CauseClass cause_class) {
  switch (cause_class) {
    case CauseClass::kStoppedOnRequest:
    case CauseClass::kDidNotStopInTime:
    case CauseClass::kPreempted:
    case CauseClass::kNodeShutdown:
    case CauseClass::kDrained:
    case CauseClass::kUnschedulable:
      return Artifact::kNone;
    case CauseClass::kNodeLost:
    case CauseClass::kNodeOutOfMemory:
    case CauseClass::kDeviceAllocationFailed:
    case CauseClass::kGpuFault:
      return Artifact::kNode;
    case CauseClass::kKilled:
    case CauseClass::kRendezvousTimeout:
    case CauseClass::kPeerConnectionLost:
    case CauseClass::kHang:
    case CauseClass::kEarlyExit:
      return Artifact::kClass;
    default:
      return Artifact::kMessage;
  }
}

bool counts(const api::AttemptStatus& attempt) {
  return attempt.cause && artifact_of(*attempt.cause).has_value() &&
         attempt.outcome != AttemptOutcome::kPaused &&
         attempt.outcome != AttemptOutcome::kSucceeded;
}

bool same_end(const api::AttemptStatus& a, const api::AttemptStatus& b) {
  return a.cause->cause_class == b.cause->cause_class &&
         artifact_of(*a.cause) == artifact_of(*b.cause);
}

bool got_further(const api::AttemptStatus& earlier, const api::AttemptStatus& later) {
  const auto from = kept_step(earlier);
  const auto to = kept_step(later);
  return to && *to > from.value_or(0);
}

std::uint32_t same_ends(std::span<const api::AttemptStatus> history,
                        const api::AttemptStatus& ended) {
  std::uint32_t same = 1;
  for (auto earlier = history.rbegin(); earlier != history.rend(); ++earlier) {
    if (got_further(*earlier, ended)) break;
    if (!counts(*earlier)) continue;
    if (!same_end(*earlier, ended)) break;
    ++same;
  }
  return same;
}

}  // namespace

std::optional<std::string> artifact_of(const api::Cause& cause) {
  switch (artifact_kind(cause.cause_class)) {
    case Artifact::kNone:
      return std::nullopt;
    case Artifact::kClass:
      return std::string(enum_name(cause.cause_class));
    case Artifact::kNode:
      if (!cause.node.empty()) return cause.node;
      [[fallthrough]];
    case Artifact::kMessage:
      break;
  }
  return cause.message.substr(0, cause.message.find(": "));
}

std::optional<std::int64_t> kept_step(const api::AttemptStatus& attempt) {
  if (!attempt.last_step) return attempt.resumed_from_step;
  const std::int64_t lost = std::clamp<std::int64_t>(attempt.lost_steps.value_or(0), 0,
                                                     std::max<std::int64_t>(*attempt.last_step, 0));
  return std::max(*attempt.last_step - lost, attempt.resumed_from_step.value_or(0));
}

Recurrence judge_recurrence(std::span<const api::AttemptStatus> history,
                            const api::AttemptStatus& ended, Advice advice) {
  Recurrence result{.advice = advice};
  if (history.empty())
    result.progressed = kept_step(ended).value_or(0) > ended.resumed_from_step.value_or(0);
  else
    result.progressed = got_further(history.back(), ended);
  if (!counts(ended)) return result;
  result.same = same_ends(history, ended);
  const std::uint32_t most = advice == Advice::kRestartOnce ? kSameEndOnceMax : kSameEndMax;
  const bool restarts = advice != Advice::kStop && advice != Advice::kCarryOn;
  if (!restarts || result.same < most) return result;
  result.advice = Advice::kStop;
  const std::string_view name = enum_name(ended.cause->cause_class);
  const auto step = kept_step(ended);
  result.reason = fmt::format("{} attempts in a row ended with {} ({}) and kept no step beyond {}",
                              result.same, name, *artifact_of(*ended.cause), step.value_or(0));
  return result;
}

}  // namespace amdahl::training
