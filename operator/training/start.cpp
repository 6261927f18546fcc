// The gang of the current attempt comes into being: Service, PodGroup, then all pods together.
//
// Not before the pods of the attempt before are over (or silent for too long), the backoff has
// passed, and the checkpoint to go on from was looked at. Once all of it exists this only shows
// what moves.

#include "operator/api/names.hpp"
#include "operator/training/breakage.hpp"
#include "operator/training/checkpoint_check.hpp"
#include "operator/training/cleanup.hpp"
#include "operator/training/concern.hpp"
#include "operator/training/events.hpp"
#include "operator/training/gang_backend.hpp"
#include "operator/training/pod_template.hpp"
#include "operator/training/policies.hpp"
#include "operator/training/status_of.hpp"
#include "operator/training/template_check.hpp"
#include "operator/training/waiting.hpp"

namespace amdahl::training {
namespace {

constexpr std::chrono::seconds kRetryMin{5};
constexpr std::chrono::seconds kExplainAfter{10};
constexpr std::chrono::seconds kRetryMax{60};
// Most gangs get their nodes within a moment, and then one status says both: that their pods exist,
// and where.
constexpr std::chrono::seconds kRecordAfter{2};

// Waits as long again as it has waited so far: doubling without a counter.
std::chrono::nanoseconds retry_after(const Situation& s) {
  const std::chrono::nanoseconds waited = s.now - attempt_began(s.status);
  return std::clamp<std::chrono::nanoseconds>(waited, kRetryMin, kRetryMax);
}

bool old_pods_linger(const Situation& s) {
  const api::AttemptStatus* const before = attempt_before(s.status);
  if (before == nullptr || !before->ended_at) return false;
  // Deleted late, or on a node that does not answer: its number fences it from here on.
  const std::chrono::seconds grace{kGraceSecondsDefault};
  if (s.now >= *before->ended_at + grace + kStuckTerminatingMax) return false;
  for (const PodSeen* pod : s.view.ours)
    if (static_cast<std::int64_t>(pod->attempt) < s.view.number && !is_over(*pod, s.now))
      return true;
  return false;
}

// Nothing of an earlier attempt is left that could still write a checkpoint.
bool nobody_commits(const Situation& s) {
  return s.view.others.empty() && !old_pods_linger(s);
}

api::PendingStatus waits_for(std::string reason, std::string message) {
  return {.reason = std::move(reason), .message = std::move(message)};
}

// What the API server said to this pass, if anything.
bool show_refusal(Plan& plan, const Situation& s) {
  if (!s.seen.refusal) return false;
  const CreateRefusal& refusal = *s.seen.refusal;
  const bool taken = refusal.kind == CreateRefusalKind::kNameTaken;
  Shown shown{.pending = taken ? waits_for("NameTaken", refusal.words) : explain_refusal(s)};
  shown.admitted_reason = taken ? api::reason::kNameTaken : api::reason::kPodsRefused;
  show(plan, s, shown);
  plan.look_again_in(retry_after(s));
  return true;
}

// "Service", when one of the gang's name is not ours.
std::string_view foreign_service(const Situation& s) {
  const ServicePtr& service = s.seen.service;
  if (!service || owned_by(service->metadata.owners, s.job().metadata.uid)) return {};
  return "Service";
}

// Why the gang cannot begin yet; nothing: it can.
std::optional<api::PendingStatus> obstacle(Plan& plan, const Situation& s) {
  if (!s.view.others.empty()) {
    plan.look_again_in(kRetryMin);
    return waits_for("WaitingForOldPods", "an older job of this name still has pods");
  }
  if (old_pods_linger(s)) {
    plan.look_again_in(kRetryMin);
    return waits_for("WaitingForOldPods", "pods of the attempt before have not ended yet");
  }
  if (const auto time = backoff_until(s); time && s.now < *time) {
    plan.look_again_in(*time - s.now);
    return waits_for("Backoff", fmt::format("until {}", format_time(stamp(*time))));
  }
  const std::string_view taken = group_is_foreign(s) ? "PodGroup" : foreign_service(s);
  if (taken.empty()) return std::nullopt;
  plan.look_again_in(retry_after(s));
  return waits_for("NameTaken", fmt::format("{} {} belongs to somebody else", taken,
                                            api::service_name(s.job().metadata.name)));
}

void ensure_gang(Plan& plan, const Situation& s, const GangBackend& gang) {
  if (!s.seen.service) plan.create_service = service_of(s.job());
  const auto group = gang.group(s);
  if (!group) return;
  if (!s.seen.group)
    plan.create_group = *group;
  else if (has_group(s) && gang.outdated(s))
    plan.update_group = *group;
}

Plan end_refused(const Situation& s, const std::string& why) {
  TrainingJobStatus next = s.status;
  end_attempt(next, s, api::AttemptOutcome::kFailed, {});
  finish_job(next, s, api::condition::kFailed, api::reason::kInvalidSpec, why);
  Plan plan = write_ahead(s, std::move(next), Move::kGiveUp);
  plan.policy = "refused";
  plan.events.push_back(event_of(api::reason::kInvalidSpec, why));
  return plan;
}

void show_progress(Plan& plan, const Situation& s, const GangState& state) {
  Shown shown{.in_queue = state.in_queue};
  bool waits = s.view.running < s.view.desired;
  // Most gangs are placed at once: nobody needs to read why they were not, a moment before.
  const auto& started = s.view.record->started_at;
  const WallTime due = started.value_or(s.now) + kExplainAfter;
  if (waits && s.now < due && !is_too_large(s)) {
    waits = false;
    plan.look_again_in(due - s.now);
  }
  // Every pod that moves is an event; why the rest waits is worked out every now and then.
  const bool fresh =
      s.status.pending && s.seen.status_written && s.now < *s.seen.status_written + kCountsEvery;
  if (waits && fresh) plan.look_again_in(kCountsEvery);
  if (waits) shown.pending = fresh ? s.status.pending : explain_waiting(s);
  const Concern concern = concern_of(s);
  if (concern.shown) shown.pending = concern.shown;
  if (concern.look_again) plan.look_again_in(*concern.look_again);
  show(plan, s, shown);
}

}  // namespace

std::optional<std::chrono::nanoseconds> record_wait(const Situation& s) {
  if (!s.view.whole() || s.view.record->started_at) return std::nullopt;
  WallTime last{};
  for (const PodSeen* pod : s.view.ranks) {
    if (!pod->node.empty() || pod->ended() || pod->deleting() || !pod->created) return std::nullopt;
    last = std::max(last, *pod->created);
  }
  const std::chrono::nanoseconds age = s.now - last;
  if (age >= kRecordAfter || age <= -kRecordAfter) return std::nullopt;  // or clocks differ
  return kRecordAfter - age;
}

std::optional<Plan> plan_refused(const Situation& s) {
  if (!s.view.live() || !s.seen.refusal || s.seen.refusal->kind != CreateRefusalKind::kInvalid)
    return std::nullopt;
  return end_refused(s, s.seen.refusal->words);
}

Plan plan_start(const Situation& s) {
  if (auto plan = settle(s)) return *std::move(plan);
  Plan plan{.policy = "observe"};
  if (looks_wrong(s)) plan.look_again_in(kSuspicionCheck);
  if (const auto next = next_deadline(s)) plan.look_again_in(*next);
  if (const auto next = next_hang_check(s)) plan.look_again_in(*next);
  clear_pods(plan, s, Leave::kEvidence, "Restarting");
  if (show_refusal(plan, s)) return plan;
  const GangBackend& gang = gang_backend(s.spec.scheduling.gang);
  const GangState state = gang.state(s);
  const std::vector<std::uint32_t> missing = missing_ranks(s.view);
  const bool was_whole = s.status.workers && s.status.workers->created >= s.view.desired;
  if (missing.empty() || was_whole || is_pausing(s.status)) {
    if (!is_pausing(s.status) && !group_is_foreign(s)) ensure_gang(plan, s, gang);
    if (const auto wait = record_wait(s); wait && !is_pausing(s.status))
      plan.look_again_in(*wait);
    else
      show_progress(plan, s, state);
    return plan;
  }
  // It may have begun under an operator that had fewer rules.
  if (const auto fault = job_fault(s.job(), s.pods)) return end_refused(s, *fault);
  if (const auto why = obstacle(plan, s)) {
    if (nobody_commits(s)) begin_look(plan, s);
    show(plan, s, {.pending = why});
    return plan;
  }
  if (check_checkpoint(plan, s)) return plan;
  if (!state.may_create_pods) {
    plan.look_again_in(retry_after(s));
    show(plan, s, {.pending = state.pending, .in_queue = state.in_queue});
    return plan;
  }
  ensure_gang(plan, s, gang);
  // Fixed: the queue has to let the group in first, so the group has to be there first.
  const bool fixed = s.spec.scheduling.admission == api::Admission::kFixed;
  if (fixed && plan.create_group) return plan;
  plan.create_pods = missing;
  plan.policy = "start";
  return plan;
}

}  // namespace amdahl::training
