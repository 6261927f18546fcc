#include "operator/training/decide.hpp"

#include "operator/training/cleanup.hpp"
#include "operator/training/events.hpp"
#include "operator/training/policies.hpp"
#include "operator/training/sound_status.hpp"
#include "operator/training/unreadable.hpp"

namespace amdahl::training {
namespace {

Plan ask_policies(const Situation& s) {
  if (auto plan = plan_submit(s)) return *std::move(plan);
  if (auto plan = plan_finished(s)) return *std::move(plan);
  if (auto plan = plan_unrecorded(s)) return *std::move(plan);
  if (auto plan = plan_cancel(s)) return *std::move(plan);
  if (auto plan = plan_parked(s)) return *std::move(plan);
  if (auto plan = plan_refused(s)) return *std::move(plan);
  if (auto plan = plan_finish(s)) return *std::move(plan);
  if (auto plan = plan_pause(s)) return *std::move(plan);
  if (auto plan = plan_restart(s)) return *std::move(plan);
  if (auto plan = plan_deadline(s)) return *std::move(plan);
  return plan_start(s);
}

// A leader that was replaced cannot write for this long (E2). Who still can is the leader, and the
// lease that the higher number came from is gone.
constexpr std::chrono::minutes kFencedMax{5};

// A newer leader is at work.
bool is_fenced(const Situation& s) {
  if (s.status.epoch <= s.seen.epoch) return false;
  return !s.seen.leading_since || s.now < *s.seen.leading_since + kFencedMax;
}

// The first act of a new term comes after its number is on record: from then on every conditional
// write of an older leader fails (E3). Jobs that need no act are not touched, and a job without a
// status has nothing that an older leader could have decided about.
Plan after_claim(const Situation& s, Plan plan) {
  const bool is_new = s.status.attempt == 0 && s.status.conditions.empty();
  if (!plan.acts() || is_new || s.status.epoch == s.seen.epoch) return plan;
  Plan claim{.policy = "epoch", .move = Move::kObserve, .write_ahead = true, .status = s.status};
  claim.status->epoch = s.seen.epoch;
  claim.reply = plan.reply;
  return claim;
}

Plan leave_unreadable(const TrainingJob& job) {
  const auto why = job.metadata.annotations.find(kUnreadableMark);
  return {.policy = "unreadable",
          .events = {event_of(event::kUnreadable,
                              fmt::format("the operator cannot read this job and leaves it alone: "
                                          "{}. It may be of a newer version of the CRD",
                                          *why))}};
}

// Nothing is decided upon a status that nobody of us wrote: the next pass sees the mended one.
Plan mend(const Situation& s, api::TrainingJobStatus status) {
  status.epoch = s.seen.epoch;
  return {.policy = "mend",
          .move = Move::kObserve,
          .write_ahead = true,
          .status = std::move(status),
          .events = {event_of(event::kStatusMended,
                              "the status did not fit the attempts of the job and was mended; "
                              "only the operator should write it")}};
}

}  // namespace

Plan decide(const Observed& seen, WallTime now, const PodOptions& options) {
  const AttemptView view = view_of(seen);
  if (!seen.job || seen.job->metadata.deleted) return release_everything(view);
  if (is_unreadable(*seen.job)) return leave_unreadable(*seen.job);
  const Situation s{.seen = seen,
                    .view = view,
                    .spec = seen.job->spec,
                    .status = seen.job->status,
                    .pods = options,
                    .now = now};
  if (is_fenced(s)) return {.policy = "fenced", .requeue_after = kFencedMax};
  if (auto status = mended_status(*seen.job, stamp(s.now))) return mend(s, *std::move(status));
  Plan plan = ask_policies(s);
  announce(plan, s);
  plan.reply = reply_to_ranks(s);
  plan = after_claim(s, std::move(plan));
  if (!plan.write_ahead) release_others(plan, view);
  return plan;
}

}  // namespace amdahl::training
