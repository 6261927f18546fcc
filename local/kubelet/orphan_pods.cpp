#include "local/kubelet/orphan_pods.hpp"

#include "base/json_encode.hpp"
#include "operator/kube/api.hpp"
#include "operator/kube/types_core.hpp"

namespace amdahl::local {
namespace {

// The words are Kubernetes' own: controllers look for them.
PodStatus failed_status(const Pod& pod, WallTime now) {
  PodStatus status = pod.status;
  status.phase = "Failed";
  std::erase_if(status.conditions,
                [](const PodCondition& each) { return each.type == "DisruptionTarget"; });
  status.conditions.push_back({.type = "DisruptionTarget",
                               .status = kube::ConditionStatus::kTrue,
                               .changed = now,
                               .reason = "DeletionByPodGC",
                               .message = "PodGC: node no longer exists"});
  return status;
}

}  // namespace

Task<Result<controller::Outcome>> clear_orphan(kube::Client& client, Pod pod,
                                               controller::Reconcile context) {
  const kube::ObjectMeta& meta = pod.metadata;
  const auto age = context.now - meta.created.value_or(context.now);
  const auto node = co_await kube::Api<kube::Node>(client).get({.ns = "", .name = pod.spec.node});
  if (node) co_return controller::Outcome{};
  if (node.error().code != Errc::kNotFound) co_return std::unexpected<Error>(node.error());
  if (age < kOrphanAgeMin) co_return controller::Outcome{.requeue_after = kOrphanAgeMin - age};
  const bool over = pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
  if (!over)
    CO_TRY(
        co_await context.writer.update_status({.resource = kube::kPods,
                                               .key = meta.key(),
                                               .version = meta.version,
                                               .before = encode(pod.status),
                                               .after = encode(failed_status(pod, context.now))}));
  const auto removed =
      co_await kube::Api<Pod>(client).remove(meta.key(), {.uid = meta.uid, .grace_seconds = 0});
  if (!removed && removed.error().code != Errc::kNotFound)
    co_return std::unexpected<Error>(removed.error());
  co_return controller::Outcome{};
}

}  // namespace amdahl::local
