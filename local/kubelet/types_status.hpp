// v1: the status of a pod as the kubelet writes it, with every field it writes.
//
// Read back from the server, changed, and written as the difference; conditions of others stay.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/fields.hpp"
#include "operator/kube/types_pod.hpp"

namespace amdahl::local {

struct Waiting {
  std::string reason = {};
  std::string message = {};
  bool operator==(const Waiting&) const = default;
};
template <class V>
constexpr void fields(V& v, Waiting& waiting) {
  v.optional("reason", waiting.reason);
  v.optional("message", waiting.message);
}

struct Running {
  WallTime started = {};
  bool operator==(const Running&) const = default;
};
template <class V>
constexpr void fields(V& v, Running& running) {
  v.optional("startedAt", running.started);
}

struct Terminated {
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;
  std::string reason = {};
  std::string message = {};
  std::optional<WallTime> started = {};
  std::optional<WallTime> finished = {};
  std::string container_id = {};
  bool operator==(const Terminated&) const = default;
};
template <class V>
constexpr void fields(V& v, Terminated& terminated) {
  v.required("exitCode", terminated.exit_code);
  v.optional("signal", terminated.signal);
  v.optional("reason", terminated.reason);
  v.optional("message", terminated.message);
  v.optional("startedAt", terminated.started);
  v.optional("finishedAt", terminated.finished);
  v.optional("containerID", terminated.container_id);
}

struct ContainerState {
  std::optional<Waiting> waiting = {};
  std::optional<Running> running = {};
  std::optional<Terminated> terminated = {};
  bool operator==(const ContainerState&) const = default;
};
template <class V>
constexpr void fields(V& v, ContainerState& state) {
  v.optional("waiting", state.waiting);
  v.optional("running", state.running);
  v.optional("terminated", state.terminated);
}

struct ContainerStatus {
  std::string name = {};
  ContainerState state = {};
  ContainerState last_state = {};
  bool ready = false;
  std::int32_t restarts = 0;
  std::string image = {};
  std::string image_id = {};
  std::string container_id = {};
  std::optional<bool> started = {};
  bool operator==(const ContainerStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, ContainerStatus& status) {
  v.required("name", status.name);
  v.optional("state", status.state);
  v.optional("lastState", status.last_state);
  v.required("ready", status.ready);
  v.required("restartCount", status.restarts);
  v.required("image", status.image);
  v.required("imageID", status.image_id);
  v.optional("containerID", status.container_id);
  v.optional("started", status.started);
}

struct PodCondition {
  std::string type = {};
  kube::ConditionStatus status = kube::ConditionStatus::kUnknown;
  std::int64_t observed_generation = 0;
  std::optional<WallTime> probed = {};
  std::optional<WallTime> changed = {};
  std::string reason = {};
  std::string message = {};
  bool operator==(const PodCondition&) const = default;
};
template <class V>
constexpr void fields(V& v, PodCondition& condition) {
  v.required("type", condition.type);
  v.required("status", condition.status);
  v.optional("observedGeneration", condition.observed_generation);
  v.optional("lastProbeTime", condition.probed);
  v.optional("lastTransitionTime", condition.changed);
  v.optional("reason", condition.reason);
  v.optional("message", condition.message);
}

struct Address {
  std::string ip = {};
  bool operator==(const Address&) const = default;
};
template <class V>
constexpr void fields(V& v, Address& address) {
  v.optional("ip", address.ip);
}

struct PodStatus {
  std::string phase = {};
  std::vector<PodCondition> conditions = {};
  std::string message = {};
  std::string reason = {};
  std::string host_ip = {};
  std::vector<Address> host_ips = {};
  std::string pod_ip = {};
  std::vector<Address> pod_ips = {};
  std::optional<WallTime> started = {};
  std::vector<ContainerStatus> init_containers = {};
  std::vector<ContainerStatus> containers = {};
  bool operator==(const PodStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, PodStatus& status) {
  v.optional("phase", status.phase);
  v.optional("conditions", status.conditions);
  v.optional("message", status.message);
  v.optional("reason", status.reason);
  v.optional("hostIP", status.host_ip);
  v.optional("hostIPs", status.host_ips);
  v.optional("podIP", status.pod_ip);
  v.optional("podIPs", status.pod_ips);
  v.optional("startTime", status.started);
  v.optional("initContainerStatuses", status.init_containers);
  v.optional("containerStatuses", status.containers);
}

}  // namespace amdahl::local
