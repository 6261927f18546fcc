#include "operator/training/waiting.hpp"

#include "operator/training/breakage.hpp"
#include "operator/training/diagnose/pending.hpp"
#include "operator/training/gang_backend.hpp"
#include "operator/training/node_room.hpp"
#include "operator/training/pod_resources.hpp"

namespace amdahl::training {
namespace {

void add_queue(PendingEvidence& evidence, const Situation& s) {
  if (s.spec.scheduling.gang != api::GangScheduler::kVolcano) return;
  evidence.queue_name = s.spec.scheduling.queue;
  if (const QueuePtr& queue = s.seen.queue_object)
    evidence.queue = QueueEvidence{.exists = true,
                                   .open = s.seen.queue != QueueState::kClosed,
                                   .state = queue->status.state,
                                   .capability = queue->spec.capability,
                                   .allocated = queue->status.allocated};
}

void add_group(PendingEvidence& evidence, const Situation& s) {
  if (!has_group(s)) return;
  const kube::PodGroup& group = *s.seen.group;
  const kube::PodGroupPhase phase = group.status.phase;
  PodGroupEvidence found{.inqueue = phase == kube::PodGroupPhase::kInqueue ||
                                    phase == kube::PodGroupPhase::kRunning ||
                                    phase == kube::PodGroupPhase::kCompleted,
                         .resources_min = group.spec.resources_min};
  for (const kube::Condition& condition : group.status.conditions) {
    if (condition.type != "Unschedulable" || condition.status != kube::ConditionStatus::kTrue)
      continue;
    found.reason = condition.reason;
    found.message = condition.message;
  }
  evidence.group = std::move(found);
}

}  // namespace

bool is_too_large(const Situation& s) {
  if (!s.seen.nodes) return false;
  const PendingEvidence evidence{.ranks = s.view.desired,
                                 .per_pod = pod_requests(s.spec.pod_template, 1),
                                 .nodes = rooms_for(s.spec.pod_template, *s.seen.nodes)};
  return explain_pending(evidence).reason == pending::kTooLarge;
}

api::PendingStatus explain_waiting(const Situation& s) {
  PendingEvidence evidence{.ranks = s.view.desired,
                           .per_pod = pod_requests(s.spec.pod_template, 1)};
  add_queue(evidence, s);
  add_group(evidence, s);
  if (s.seen.nodes) evidence.nodes = rooms_for(s.spec.pod_template, *s.seen.nodes);
  for (std::uint32_t rank = 0; rank < s.view.ranks.size(); ++rank)
    if (s.view.ranks[rank] != nullptr) evidence.pods.push_back(rank_evidence(s, rank));
  return explain_pending(evidence);
}

api::PendingStatus explain_refusal(const Situation& s) {
  const CreateRefusal& refusal = *s.seen.refusal;
  return explain_pending({.ranks = s.view.desired,
                          .per_pod = pod_requests(s.spec.pod_template, 1),
                          .refusal = Refusal{.message = refusal.words,
                                             .quota = refusal.kind == CreateRefusalKind::kQuota}});
}

}  // namespace amdahl::training
