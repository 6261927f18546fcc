#include "local/kubelet/pod_status.hpp"

#include <algorithm>

#include "local/kubelet/downward.hpp"

namespace amdahl::local {
namespace {

using kube::ConditionStatus;

constexpr int kSignalBase = 128;
constexpr int kCannotStart = 128;

struct Writer {
  const Pod& pod;
  const PodLife& life;
  WallTime now;
  PodStatus status = {};

  ContainerStatus shown(const ContainerLife& container) const {
    ContainerStatus result = container.status;
    result.started = container.active;
    const bool completed = container.is_init && !container.is_sidecar && !container.active &&
                           result.state.terminated && result.state.terminated->exit_code == 0;
    const bool is_plain_init = container.is_init && !container.is_sidecar;
    result.ready = is_plain_init ? completed : container.active;
    if (!container.active && result.state.terminated && will_restart(pod, life, container)) {
      result.last_state = {.terminated = result.state.terminated};
      const std::string message = fmt::format(
          "back-off {}s restarting failed container={} pod={}_{}({})", container.backoff.count(),
          result.name, pod.metadata.name, pod.metadata.ns, pod.metadata.uid);
      result.state = {.waiting = Waiting{.reason = "CrashLoopBackOff", .message = message}};
    } else if (!has_run(container) && !result.state.waiting) {
      const bool waits_for_init = !container.is_init && !inits_done(life);
      result.state.waiting = Waiting{
          .reason = waits_for_init || container.is_init ? "PodInitializing" : "ContainerCreating"};
    }
    return result;
  }

  std::string phase() const {
    if (!life.reason.empty()) return "Failed";
    bool failed = false;
    bool ended = true;
    bool pending = !inits_done(life);
    for (const ContainerLife& container : life.containers) {
      const auto& end = container.status.state.terminated;
      const bool for_good = !container.active && end && !will_restart(pod, life, container);
      const bool counts = !container.is_sidecar;
      if (counts && for_good && end->exit_code != 0) failed = true;
      if (container.is_init && counts && failed) return "Failed";
      if (container.is_init) continue;
      ended = ended && for_good;
      pending = pending || !has_run(container);
    }
    if (ended && !pending) return failed ? "Failed" : "Succeeded";
    return pending ? "Pending" : "Running";
  }

  void condition(std::string_view type, bool is_true, std::string reason = {},
                 std::string message = {}) {
    const ConditionStatus value = is_true ? ConditionStatus::kTrue : ConditionStatus::kFalse;
    auto found = std::ranges::find(status.conditions, type, &PodCondition::type);
    if (found == status.conditions.end()) {
      status.conditions.push_back({.type = std::string(type)});
      found = status.conditions.end() - 1;
    }
    if (found->status != value || !found->changed) found->changed = now;
    found->status = value;
    found->reason = std::move(reason);
    found->message = std::move(message);
    if (pod.metadata.generation > 0) found->observed_generation = pod.metadata.generation;
  }

  std::string unready() const {
    std::string names;
    for (const ContainerLife& container : life.containers)
      if (!container.is_init && !container.active)
        names += (names.empty() ? "" : " ") + container.status.name;
    return names;
  }

  void conditions() {
    const bool over = status.phase == "Succeeded" || status.phase == "Failed";
    const std::string ending = status.phase == "Succeeded" ? "PodCompleted" : "PodFailed";
    const std::string names = unready();
    const bool ready = status.phase == "Running" && names.empty();
    const std::string why = over ? ending : "ContainersNotReady";
    const std::string which =
        over ? "" : fmt::format("containers with unready status: [{}]", names);
    condition("PodReadyToStartContainers", life.started && !over);
    const bool initialized = inits_done(life);
    condition(
        "Initialized", initialized,
        initialized ? (status.phase == "Succeeded" ? ending : "") : "ContainersNotInitialized");
    condition("Ready", ready, ready ? "" : why, ready ? "" : which);
    condition("ContainersReady", ready, ready ? "" : why, ready ? "" : which);
  }
};

}  // namespace

PodStatus pod_status(const Pod& pod, const PodLife& life, WallTime now) {
  Writer writer{.pod = pod, .life = life, .now = now, .status = pod.status};
  PodStatus& status = writer.status;
  status.phase = writer.phase();
  status.reason = life.reason;
  status.message = life.message;
  status.started = life.started;
  status.host_ip = kHostAddress;
  status.host_ips = {{.ip = std::string(kHostAddress)}};
  status.pod_ip = life.address;
  status.pod_ips =
      life.address.empty() ? std::vector<Address>{} : std::vector<Address>{{.ip = life.address}};
  status.init_containers.clear();
  status.containers.clear();
  for (const ContainerLife& container : life.containers)
    (container.is_init ? status.init_containers : status.containers)
        .push_back(writer.shown(container));
  writer.conditions();
  return std::move(writer.status);
}

Terminated terminated(const ProgramEnd& end, std::optional<WallTime> started, WallTime now,
                      std::string message) {
  Terminated result{.message = std::move(message), .started = started, .finished = now};
  if (!end.start_problem.empty()) {
    result.exit_code = kCannotStart;
    result.reason = "StartError";
    result.message = end.start_problem;
  } else if (end.out_of_memory) {
    result.exit_code = kSignalBase + 9;
    result.reason = "OOMKilled";
  } else {
    result.signal = end.signal;
    result.exit_code = end.signal != 0 ? kSignalBase + end.signal : end.exit_code;
    result.reason = result.exit_code == 0 ? "Completed" : "Error";
  }
  return result;
}

}  // namespace amdahl::local
