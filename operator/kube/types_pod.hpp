// v1 Pod, projected to what decides over a gang: where each pod is, how it is, how it ended.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "operator/kube/types_meta.hpp"

namespace amdahl::kube {

inline const Resource kPods{.group = "", .version = "v1", .plural = "pods", .kind = "Pod"};

enum class PodPhase : std::uint8_t { kUnknown, kPending, kRunning, kSucceeded, kFailed };
constexpr auto enum_names(PodPhase) {
  return std::to_array<EnumName<PodPhase>>({{PodPhase::kUnknown, "Unknown"},
                                            {PodPhase::kPending, "Pending"},
                                            {PodPhase::kRunning, "Running"},
                                            {PodPhase::kSucceeded, "Succeeded"},
                                            {PodPhase::kFailed, "Failed"}});
}
constexpr PodPhase enum_unknown(PodPhase) {
  return PodPhase::kUnknown;
}

enum class PodConditionType : std::uint8_t {
  kOther,
  kScheduled,
  kInitialized,
  kContainersReady,
  kReady,
  kDisruptionTarget,
  kReadyToStart,
};
constexpr auto enum_names(PodConditionType) {
  return std::to_array<EnumName<PodConditionType>>(
      {{PodConditionType::kOther, "Other"},
       {PodConditionType::kScheduled, "PodScheduled"},
       {PodConditionType::kInitialized, "Initialized"},
       {PodConditionType::kContainersReady, "ContainersReady"},
       {PodConditionType::kReady, "Ready"},
       {PodConditionType::kDisruptionTarget, "DisruptionTarget"},
       {PodConditionType::kReadyToStart, "PodReadyToStartContainers"}});
}
constexpr PodConditionType enum_unknown(PodConditionType) {
  return PodConditionType::kOther;
}

struct PodCondition {
  PodConditionType type = PodConditionType::kOther;
  ConditionStatus status = ConditionStatus::kUnknown;
  std::optional<WallTime> changed = {};
  Text reason = {};
  Text message = {};
  bool operator==(const PodCondition&) const = default;
};
template <class V>
constexpr void fields(V& v, PodCondition& condition) {
  v.required("type", condition.type, {.wire = 1});
  v.required("status", condition.status, {.wire = 2});
  v.optional("lastTransitionTime", condition.changed, {.wire = 4});
  v.optional("reason", condition.reason, {.wire = 5});
  v.optional("message", condition.message, {.wire = 6});
}

struct ContainerWaiting {
  Text reason = {};  // "ImagePullBackOff", "CrashLoopBackOff", ...
  Text message = {};
  bool operator==(const ContainerWaiting&) const = default;
};
template <class V>
constexpr void fields(V& v, ContainerWaiting& waiting) {
  v.optional("reason", waiting.reason, {.wire = 1});
  v.optional("message", waiting.message, {.wire = 2});
}

struct ContainerRunning {
  std::optional<WallTime> started = {};
  bool operator==(const ContainerRunning&) const = default;
};
template <class V>
constexpr void fields(V& v, ContainerRunning& running) {
  v.optional("startedAt", running.started, {.wire = 1});
}

struct ContainerTerminated {
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;
  Text reason = {};   // "OOMKilled", "Error", "Completed", ...
  Text message = {};  // the termination message, written by the container
  std::optional<WallTime> started = {};
  std::optional<WallTime> finished = {};
  bool operator==(const ContainerTerminated&) const = default;
};
template <class V>
constexpr void fields(V& v, ContainerTerminated& terminated) {
  v.required("exitCode", terminated.exit_code, {.wire = 1});
  v.optional("signal", terminated.signal, {.wire = 2});
  v.optional("reason", terminated.reason, {.wire = 3});
  v.optional("message", terminated.message, {.wire = 4});
  v.optional("startedAt", terminated.started, {.wire = 5});
  v.optional("finishedAt", terminated.finished, {.wire = 6});
}

// At most one is set; none means waiting without a reason. Boxed, because most are absent and a
// cache holds many.
struct ContainerState {
  Boxed<ContainerWaiting> waiting = {};
  Boxed<ContainerRunning> running = {};
  Boxed<ContainerTerminated> terminated = {};
  bool operator==(const ContainerState&) const = default;
};
template <class V>
constexpr void fields(V& v, ContainerState& state) {
  v.optional("waiting", state.waiting, {.wire = 1});
  v.optional("running", state.running, {.wire = 2});
  v.optional("terminated", state.terminated, {.wire = 3});
}

struct ContainerStatus {
  Text name = {};
  ContainerState state = {};
  ContainerState last_state = {};
  bool ready = false;
  std::int32_t restarts = 0;
  bool operator==(const ContainerStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, ContainerStatus& status) {
  v.required("name", status.name, {.wire = 1});
  v.optional("state", status.state, {.wire = 2});
  v.optional("lastState", status.last_state, {.wire = 3});
  v.optional("ready", status.ready, {.wire = 4});
  v.optional("restartCount", status.restarts, {.wire = 5});
}

struct PodSpec {
  Text node = {};  // empty: not bound yet
  Text scheduler = {};
  Text priority_class = {};
  bool operator==(const PodSpec&) const = default;
};
template <class V>
constexpr void fields(V& v, PodSpec& spec) {
  v.optional("nodeName", spec.node, {.wire = 10});
  v.optional("schedulerName", spec.scheduler, {.wire = 19});
  v.optional("priorityClassName", spec.priority_class, {.wire = 24});
}

struct PodStatus {
  PodPhase phase = PodPhase::kUnknown;
  std::vector<PodCondition> conditions = {};
  Text message = {};
  Text reason = {};  // "Evicted", "Preempted", "NodeLost", ...
  Text host_ip = {};
  Text pod_ip = {};
  std::optional<WallTime> started = {};
  std::vector<ContainerStatus> init_containers = {};
  std::vector<ContainerStatus> containers = {};
  bool operator==(const PodStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, PodStatus& status) {
  v.optional("phase", status.phase, {.wire = 1});
  v.optional("conditions", status.conditions, {.wire = 2});
  v.optional("message", status.message, {.wire = 3});
  v.optional("reason", status.reason, {.wire = 4});
  v.optional("hostIP", status.host_ip, {.wire = 5});
  v.optional("podIP", status.pod_ip, {.wire = 6});
  v.optional("startTime", status.started, {.wire = 7});
  v.optional("initContainerStatuses", status.init_containers, {.wire = 10});
  v.optional("containerStatuses", status.containers, {.wire = 8});
}

struct Pod {
  CacheMeta metadata = {};
  PodSpec spec = {};
  PodStatus status = {};
  bool operator==(const Pod&) const = default;
  static const Resource& resource() { return kPods; }
};
template <class V>
constexpr void fields(V& v, Pod& pod) {
  v.required("metadata", pod.metadata, {.wire = 1});
  v.optional("spec", pod.spec, {.wire = 2});
  v.optional("status", pod.status, {.wire = 3});
}

}  // namespace amdahl::kube
