// The kinds that the TrainingJob controller reads, projected to what it decides upon.
//
// Plain values, any thread. Pods carry two members of the metadata that the shared type leaves out:
// whether our finalizer is still on them, and how much grace their deletion had.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "operator/api/training_job.hpp"
#include "operator/kube/types_core.hpp"
#include "operator/kube/types_pod.hpp"
#include "operator/kube/types_volcano.hpp"

namespace amdahl::training {

inline const kube::Resource kTrainingJobs{
    .group = "amdahl.dev", .version = "v1alpha1", .plural = "trainingjobs", .kind = "TrainingJob"};

struct TrainingJob : api::TrainingJobOf<kube::ObjectMeta> {
  static const kube::Resource& resource() { return kTrainingJobs; }
};

struct PodMeta : kube::CacheMeta {
  std::vector<Text> finalizers = {};
  std::optional<std::int64_t> deletion_grace = {};  // seconds; 0: forced, nobody waits any more
  bool operator==(const PodMeta&) const = default;
};
template <class V>
constexpr void fields(V& v, PodMeta& meta) {
  kube::fields(v, static_cast<kube::CacheMeta&>(meta));
  v.optional("deletionGracePeriodSeconds", meta.deletion_grace, {.wire = 10});
  v.optional("finalizers", meta.finalizers, {.wire = 14});
}

struct GangPod {
  PodMeta metadata = {};
  kube::PodSpec spec = {};
  kube::PodStatus status = {};
  bool operator==(const GangPod&) const = default;
  static const kube::Resource& resource() { return kube::kPods; }
};
template <class V>
constexpr void fields(V& v, GangPod& pod) {
  v.required("metadata", pod.metadata, {.wire = 1});
  v.optional("spec", pod.spec, {.wire = 2});
  v.optional("status", pod.status, {.wire = 3});
}

// scheduling.volcano.sh/v1beta1 Queue, which is cluster-scoped: whether gangs may enter it, and how
// much room it has.
inline const kube::Resource kVolcanoQueues{.group = "scheduling.volcano.sh",
                                           .version = "v1beta1",
                                           .plural = "queues",
                                           .kind = "Queue",
                                           .namespaced = false};
struct QueueSpec {
  std::map<std::string, kube::Quantity> capability = {};  // what is not named has no limit
  bool operator==(const QueueSpec&) const = default;
};
template <class V>
constexpr void fields(V& v, QueueSpec& spec) {
  v.optional("capability", spec.capability);
}
struct QueueStatus {
  std::string state = {};  // "Open", "Closed", "Closing", "Unknown"
  std::map<std::string, kube::Quantity> allocated = {};
  bool operator==(const QueueStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, QueueStatus& status) {
  v.optional("state", status.state);
  v.optional("allocated", status.allocated);
}
struct VolcanoQueue {
  kube::CacheMeta metadata = {};
  QueueSpec spec = {};
  QueueStatus status = {};
  bool operator==(const VolcanoQueue&) const = default;
  static const kube::Resource& resource() { return kVolcanoQueues; }
};
template <class V>
constexpr void fields(V& v, VolcanoQueue& queue) {
  v.required("metadata", queue.metadata);
  v.optional("spec", queue.spec);
  v.optional("status", queue.status);
}

using NodePtr = std::shared_ptr<const kube::Node>;
using JobPtr = std::shared_ptr<const TrainingJob>;
using GangPodPtr = std::shared_ptr<const GangPod>;
using GroupPtr = std::shared_ptr<const kube::PodGroup>;
using QueuePtr = std::shared_ptr<const VolcanoQueue>;
using ServicePtr = std::shared_ptr<const kube::Service>;

// Nodes of one moment, and the GPUs that pods of training jobs hold on them.
struct NodesSeen {
  std::vector<NodePtr> nodes = {};
  std::map<std::string, std::int64_t, std::less<>> gpus_held = {};  // by node
};
using NodesPtr = std::shared_ptr<const NodesSeen>;

}  // namespace amdahl::training
