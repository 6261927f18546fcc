// An attempt that broke: what it costs, and whether another one is worth it.
//
// Failures of the job's own spend one budget, which progress refills; disruptions spend another;
// pauses none. The next attempt is on record before the old pods are touched. A pause that was
// asked for meanwhile is refused, see pause.cpp.

#include <span>

#include "operator/api/fit_status.hpp"
#include "operator/training/breakage.hpp"
#include "operator/training/diagnose/recurrence.hpp"
#include "operator/training/events.hpp"
#include "operator/training/policies.hpp"
#include "operator/training/status_of.hpp"

namespace amdahl::training {
namespace {

struct Verdict {
  bool again = true;
  std::string_view reason = {};  // of the condition Failed
  std::string words = {};
};

Recurrence recurrence_of(const TrainingJobStatus& next, const Diagnosis& diagnosis) {
  const std::span<const api::AttemptStatus> attempts(next.attempts);
  return judge_recurrence(attempts.first(attempts.size() - 1), attempts.back(), diagnosis.advice);
}

void spend(const Situation& s, TrainingJobStatus& next, const Diagnosis& diagnosis,
           const Recurrence& recurrence) {
  if (!next.budgets) next.budgets.emplace();
  if (s.spec.restart.refill_on_progress && recurrence.progressed) next.budgets->failures = 0;
  if (diagnosis.budget == Budget::kDisruptions)
    ++next.budgets->disruptions;
  else
    ++next.budgets->failures;
}

// The attempt that ends now is in `next` already, with its cause, and is paid for.
Verdict judge(const Situation& s, const TrainingJobStatus& next, const Diagnosis& diagnosis,
              const Recurrence& recurrence) {
  if (diagnosis.budget == Budget::kDisruptions) {
    const bool spent = next.budgets->disruptions > s.spec.restart.disruptions_max;
    return {.again = !spent, .reason = api::reason::kDisruptionBudgetSpent};
  }
  if (recurrence.advice == Advice::kStop)
    return {.again = false, .reason = api::reason::kCannotRecover, .words = recurrence.reason};
  const bool spent = next.budgets->failures > s.spec.restart.failures_max;
  return {.again = !spent, .reason = api::reason::kFailureBudgetSpent};
}

constexpr std::uint32_t kWhyMax = 200;  // of a cause that stands before other words

std::string in_words(const api::Cause& cause, std::uint32_t characters_max = api::kMessageMax) {
  std::string words(enum_name(cause.cause_class));
  if (cause.rank) words += fmt::format(" on rank {}", *cause.rank);
  if (!cause.message.empty()) words += fmt::format(": {}", cause.message);
  return api::fit_text(words, characters_max);
}

}  // namespace

std::optional<Plan> plan_restart(const Situation& s) {
  const auto broken = find_breakage(s);
  if (!broken) return std::nullopt;
  const Diagnosis& diagnosis = broken->diagnosis;
  const bool disrupted = diagnosis.budget == Budget::kDisruptions;
  TrainingJobStatus next = s.status;
  end_attempt(next, s, disrupted ? api::AttemptOutcome::kDisrupted : api::AttemptOutcome::kFailed,
              diagnosis.root);
  const Recurrence recurrence = recurrence_of(next, diagnosis);
  spend(s, next, diagnosis, recurrence);
  const Verdict verdict = judge(s, next, diagnosis, recurrence);
  std::string words = in_words(*diagnosis.root);
  if (!verdict.words.empty()) words += fmt::format(" ({})", verdict.words);
  if (verdict.again) {
    refuse_pause(next, s,
                 fmt::format("the attempt ended with {}; the job restarts",
                             in_words(*diagnosis.root, kWhyMax)));
    begin_attempt(next, s);
  } else {
    finish_job(next, s, api::condition::kFailed, verdict.reason, words);
  }
  Plan plan = write_ahead(s, std::move(next), verdict.again ? Move::kBreak : Move::kGiveUp);
  plan.policy = "restart";
  plan.confirm_absent = broken->missing;
  const std::string_view again = disrupted ? event::kDisrupted : event::kRankFailed;
  plan.events.push_back(event_of(verdict.again ? again : verdict.reason, words));
  return plan;
}

}  // namespace amdahl::training
