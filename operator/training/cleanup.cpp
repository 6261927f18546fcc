#include "operator/training/cleanup.hpp"

#include <algorithm>
#include <map>

#include "operator/training/account.hpp"
#include "operator/training/policies.hpp"
#include "operator/training/status_of.hpp"

namespace amdahl::training {
namespace {

// Looked at again although no event may come: a pod on a silent node, whose grace has no end.
constexpr std::chrono::seconds kStuckCheck{30};

bool belongs_to_live_attempt(const Situation& s, const PodSeen& pod) {
  return s.view.live() && static_cast<std::int64_t>(pod.attempt) == s.view.number;
}

bool is_evidence(const Situation& s, const PodSeen& pod) {
  if (!pod.ended()) return false;
  if (is_finished(s.status) && static_cast<std::int64_t>(pod.attempt) == s.view.number) return true;
  return std::ranges::any_of(s.status.attempts, [&](const api::AttemptStatus& attempt) {
    return attempt.cause && attempt.cause->pod == pod.name;
  });
}

ObjectDelete deletion_of(const kube::ObjectMeta& meta) {
  return {.name = meta.name, .uid = meta.uid, .version = meta.version};
}

// An attempt that we stopped, and that did not stop as it should: the proof goes with the pods, so
// it is on record before they are released.
std::optional<Plan> stop_in_trouble(const Situation& s) {
  TrainingJobStatus next = s.status;
  note_stop(next, s);
  if (next == s.status || s.view.ours.empty()) return std::nullopt;
  if (next.attempts.back().cause->cause_class == api::CauseClass::kStoppedOnRequest)
    return std::nullopt;  // is written with what comes next
  next.epoch = s.seen.epoch;
  return Plan{
      .policy = "settle", .move = Move::kObserve, .write_ahead = true, .status = std::move(next)};
}

void release(Plan& plan, const PodSeen& pod) {
  if (pod.has_finalizer)
    plan.release_pods.push_back({.name = pod.name, .uid = pod.uid, .object = pod.object});
}

}  // namespace

void clear_pods(Plan& plan, const Situation& s, Leave leave, std::string_view why) {
  std::map<std::uint32_t, bool> settled;
  for (const PodSeen* pod : s.view.ours) {
    if (belongs_to_live_attempt(s, *pod)) continue;
    const bool keep = leave == Leave::kEvidence && is_evidence(s, *pod);
    if (!pod->deleting() && !keep)
      plan.delete_pods.push_back(
          {.name = pod->name,
           .uid = pod->uid,
           .version = pod->object ? pod->object->metadata.version.str() : std::string(),
           .why = std::string(why),
           .runs = !pod->ended()});
    if (!pod->ended() && pod->deleting()) plan.look_again_in(kStuckCheck);
    const auto [known, fresh] = settled.try_emplace(pod->attempt, false);
    if (fresh) known->second = is_settled(s, pod->attempt);
    if (known->second) release(plan, *pod);
  }
}

void clear_group(Plan& plan, const Situation& s) {
  const std::string& uid = s.job().metadata.uid;
  if (const GroupPtr& group = s.seen.group;
      group && owned_by(group->metadata.owners, uid) && !group->metadata.deleted)
    plan.delete_group = deletion_of(group->metadata);
}

void clear_gang(Plan& plan, const Situation& s) {
  clear_group(plan, s);
  const std::string& uid = s.job().metadata.uid;
  if (const ServicePtr& service = s.seen.service;
      service && owned_by(service->metadata.owners, uid) && !service->metadata.deleted)
    plan.delete_service = deletion_of(service->metadata);
}

std::optional<Plan> settle(const Situation& s) {
  for (const PodSeen* pod : s.view.ours) {
    if (belongs_to_live_attempt(s, *pod) || is_settled(s, pod->attempt)) continue;
    const bool all_over = std::ranges::all_of(s.view.ours, [&](const PodSeen* other) {
      return other->attempt != pod->attempt || is_over(*other, s.now);
    });
    if (!all_over) continue;
    Plan plan{.policy = "settle", .move = Move::kObserve, .write_ahead = true};
    plan.status = s.status;
    note_stop(*plan.status, s);
    account_held(*plan.status, s);
    plan.status->epoch = s.seen.epoch;
    return plan;
  }
  return stop_in_trouble(s);
}

std::optional<Plan> plan_finished(const Situation& s) {
  if (!is_finished(s.status)) return std::nullopt;
  if (auto plan = settle(s)) return plan;
  Plan plan{.policy = "cleanup"};
  clear_pods(plan, s, Leave::kEvidence, "Finished");
  clear_gang(plan, s);
  if (plan.acts()) return plan;
  show(plan, s);
  if (plan.status) return plan;
  plan_ttl(plan, s);
  return plan;
}

Plan release_everything(const AttemptView& view) {
  Plan plan{.policy = "release"};
  for (const PodSeen* pod : view.ours) release(plan, *pod);
  release_others(plan, view);
  return plan;
}

void release_others(Plan& plan, const AttemptView& view) {
  for (const PodSeen* pod : view.others) release(plan, *pod);
}

}  // namespace amdahl::training
