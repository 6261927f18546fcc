// From the caches into one Observed.

#include <fmt/format.h>

#include <algorithm>

#include "operator/api/names.hpp"
#include "operator/training/hook_steps.hpp"
#include "operator/training/pod_resources.hpp"
#include "operator/training/reconciler.hpp"

namespace amdahl::training {
namespace {

constexpr std::string_view kDefaultQueue = "default";
// All pods are counted for it.
constexpr std::chrono::seconds kNodesEvery{10};

bool waits_for_nodes(const Observed& seen) {
  return seen.job && std::ranges::any_of(seen.pods, [](const PodSeen& pod) {
           return pod.node.empty() && !pod.ended() && !pod.deleting();
         });
}

// What others say of the pod.
void add_evidence(const Caches& caches, const std::string& ns, PodSeen& pod) {
  const kube::ObjectKey key{.ns = ns, .name = pod.name};
  pod.events = caches.pod_events.of(event_key(key, pod.uid));
  if (pod.node.empty()) return;
  pod.node_object = caches.nodes.find({.name = pod.node});
  // Pods run somewhere: a cache without any node knows nothing.
  pod.node_missing = !pod.node_object && caches.nodes_source.served() && caches.nodes.size() > 0;
  pod.node_events = caches.node_events.of(pod.node);
}

QueueState queue_state(const Caches& caches, const std::string& name) {
  if (!caches.queues_source.served()) return QueueState::kUnknown;
  const auto queue = caches.queues.find({.name = name});
  // Volcano makes the default queue when the first gang needs it.
  if (!queue) return name == kDefaultQueue ? QueueState::kUnknown : QueueState::kMissing;
  const bool closed = queue->status.state == "Closed" || queue->status.state == "Closing";
  return closed ? QueueState::kClosed : QueueState::kOpen;
}

}  // namespace

Observed TrainingReconciler::observe(const kube::ObjectKey& key, std::int64_t epoch,
                                     Moment now) const {
  Observed seen{.job = caches_.jobs.find(key), .epoch = epoch};
  if (leading_since_) seen.leading_since = now.at(*leading_since_);
  for (const GangPodPtr& pod : caches_.pods.by_index("job", kube::to_string(key))) {
    seen.pods.push_back(pod_seen(pod));
    add_evidence(caches_, key.ns, seen.pods.back());
  }
  if (!seen.job) return seen;
  seen.group = caches_.groups.find({.ns = key.ns, .name = api::pod_group_name(key.name)});
  seen.service = caches_.services.find({.ns = key.ns, .name = api::service_name(key.name)});
  seen.volcano_served = caches_.groups_source.served();
  if (!seen.volcano_served) seen.group.reset();  // what the cache still has went with its kind
  seen.queue = queue_state(caches_, seen.job->spec.scheduling.queue);
  seen.queue_object = caches_.queues.find({.name = seen.job->spec.scheduling.queue});
  const std::int32_t attempt = seen.job->status.attempt;
  const JobId id{.key = key, .uid = seen.job->metadata.uid};
  seen.reports = reports_.of(id, attempt, seen.pods, now);
  seen.reports_before = reports_.of(id, attempt - 1, seen.pods, now);
  leave_out_hook_steps(seen);
  seen.can_look = looks_.can_look();
  seen.store_in_pods = seen.can_look && !looks_.can_look_at(seen.job->spec.checkpoint.uri);
  // Attempt 1 is looked at before it is on record (submit.cpp).
  seen.look = looks_.of(seen.job->metadata.uid, std::max(attempt, 1));
  const auto known = known_.find(key);
  if (known == known_.end() || known->second.uid != seen.job->metadata.uid) return seen;
  if (const auto& written = known->second.status_written) seen.status_written = now.at(*written);
  if (const auto since = known->second.pause.since()) seen.pause_since = now.at(*since);
  return seen;
}

// By pods that their jobs made: labels of others say nothing, and no label says more than the
// template asks for.
std::int64_t TrainingReconciler::gpus_held_by(const GangPodPtr& pod) const {
  const PodSeen seen = pod_seen(pod);
  const auto name = pod->metadata.labels.find(api::label::kJob);
  if (seen.gpus == 0 || !name) return 0;
  const auto job = caches_.jobs.find({.ns = pod->metadata.ns.str(), .name = std::string(*name)});
  if (!job || job->metadata.uid != seen.owner_uid) return 0;
  if (static_cast<std::int64_t>(seen.attempt) != job->status.attempt) return 0;
  if (seen.name != api::pod_name(job->metadata.name, seen.attempt, seen.rank)) return 0;
  return std::min(seen.gpus, pod_gpus(job->spec.pod_template));
}

NodesPtr TrainingReconciler::nodes_seen(Monotonic now) {
  if (!caches_.nodes_source.served()) return nullptr;
  if (nodes_ && now < nodes_made_ + kNodesEvery) return nodes_;
  auto seen = std::make_shared<NodesSeen>();
  caches_.nodes.for_each([&](const NodePtr& node) { seen->nodes.push_back(node); });
  std::ranges::sort(seen->nodes, {}, [](const NodePtr& node) { return node->metadata.name.str(); });
  caches_.pods.for_each([&](const GangPodPtr& pod) {
    if (pod->spec.node.empty() || pod->status.phase == kube::PodPhase::kSucceeded ||
        pod->status.phase == kube::PodPhase::kFailed)
      return;
    if (const std::int64_t gpus = gpus_held_by(pod); gpus > 0)
      seen->gpus_held[pod->spec.node.str()] += gpus;
  });
  nodes_ = std::move(seen);
  nodes_made_ = now;
  return nodes_;
}

void TrainingReconciler::forget_released(const kube::ObjectKey& key, const Observed& seen) {
  const auto released = released_.find(key);
  if (released == released_.end()) return;
  std::erase_if(released->second, [&](const std::string& uid) {
    return std::ranges::find(seen.pods, uid, &PodSeen::uid) == seen.pods.end();
  });
  if (released->second.empty()) released_.erase(released);
}

void TrainingReconciler::forget_if_gone(const kube::ObjectKey& key, const JobPtr& job) {
  const auto known = known_.find(key);
  if (known == known_.end() || (job && job->metadata.uid == known->second.uid)) return;
  reports_.forget({.key = key, .uid = known->second.uid});
  looks_.forget(known->second.uid);
  known_.erase(known);
}

Task<Result<controller::Outcome>> TrainingReconciler::reconcile(kube::ObjectKey key,
                                                                controller::Reconcile context) {
  const Moment now{.steady = context.steady, .wall = context.now};
  if (!leading_since_) leading_since_ = now.steady;
  const JobPtr known_job = caches_.jobs.find(key);
  forget_if_gone(key, known_job);
  if (known_job) {
    Known& known = known_[key];
    known.uid = known_job->metadata.uid;
    known.pause.see(known_job->status, now);
  }
  Observed seen = observe(key, context.writer.epoch().transitions, now);
  if (waits_for_nodes(seen)) seen.nodes = nodes_seen(now.steady);
  forget_released(key, seen);
  Plan plan = decide(seen, now.wall, options_);
  const JobPtr job = plan.as_if ? plan.as_if : seen.job;
  co_return co_await apply({seen, job, context.writer, key, now}, std::move(plan));
}

}  // namespace amdahl::training
