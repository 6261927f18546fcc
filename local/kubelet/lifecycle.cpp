#include "local/kubelet/lifecycle.hpp"

#include <algorithm>

namespace amdahl::local {
namespace {

using std::chrono::seconds;

constexpr int kKilled = 137;
constexpr std::int32_t kRestartsMax = 1'000'000'000;  // a status may say anything

void wake_at(PodPlan& plan, WallTime when) {
  plan.wake = plan.wake ? std::min(*plan.wake, when) : when;
}

bool any_active(const PodLife& life) {
  return std::ranges::any_of(life.containers, &ContainerLife::active);
}

ContainerLife fresh(const Container& container, bool is_init) {
  ContainerLife life{.is_init = is_init,
                     .is_sidecar = is_init && container.restart_policy == "Always"};
  life.status.name = container.name;
  life.status.image = container.image;
  return life;
}

void recall(ContainerLife& life, const std::vector<ContainerStatus>& before, WallTime now) {
  const auto old = std::ranges::find(before, life.status.name, &ContainerStatus::name);
  if (old == before.end()) return;
  life.status.restarts = std::clamp(old->restarts, 0, kRestartsMax);
  life.status.container_id = old->container_id;
  life.status.last_state = old->last_state;
  life.status.state.terminated = old->state.terminated;
  if (old->state.waiting && old->last_state.terminated) {
    life.status.state.terminated = old->last_state.terminated;
    life.status.last_state = {};
  }
  if (old->state.running)
    life.status.state.terminated =
        Terminated{.exit_code = kKilled,
                   .reason = "ContainerStatusUnknown",
                   .message =
                       "The local cluster stopped while the container ran; its processes "
                       "were ended with it.",
                   .started = old->state.running->started,
                   .finished = now,
                   .container_id = old->container_id};
}

// Everything that runs is asked to end, and killed when the time is up.
void plan_end(const PodLife& life, WallTime until, WallTime now, PodPlan& plan) {
  if (!any_active(life)) {
    plan.over = true;
    return;
  }
  const WallTime kill_at = life.kill_at ? std::min(*life.kill_at, until) : until;
  plan.kill_at = kill_at;
  if (now >= kill_at) {
    plan.kill = true;
    return;
  }
  if (!life.kill_at)
    for (std::size_t i = 0; i < life.containers.size(); ++i)
      if (life.containers[i].active) plan.terminate.push_back(i);
  wake_at(plan, kill_at);
}

// Starts the container when it is due. True: those after it may go on.
bool plan_container(const Pod& pod, const PodLife& life, std::size_t index, WallTime now,
                    PodPlan& plan) {
  const ContainerLife& container = life.containers[index];
  if (container.active) return !container.is_init || container.is_sidecar;
  if (!has_run(container)) {
    plan.start.push_back(index);
    return !container.is_init;
  }
  if (!will_restart(pod, life, container)) return true;
  const WallTime due =
      container.status.state.terminated->finished.value_or(WallTime{}) + container.backoff;
  if (now >= due)
    plan.start.push_back(index);
  else
    wake_at(plan, due);
  return !container.is_init || container.is_sidecar;
}

bool failed_init(const Pod& pod, const PodLife& life) {
  return std::ranges::any_of(life.containers, [&](const ContainerLife& container) {
    return container.is_init && !container.active && container.status.state.terminated &&
           container.status.state.terminated->exit_code != 0 && !will_restart(pod, life, container);
  });
}

bool mains_done(const Pod& pod, const PodLife& life) {
  return std::ranges::all_of(life.containers, [&](const ContainerLife& container) {
    return container.is_init ||
           (!container.active && has_run(container) && !will_restart(pod, life, container));
  });
}

std::optional<WallTime> deadline_of(const Pod& pod, const PodLife& life) {
  if (!pod.spec.active_seconds || !life.started) return std::nullopt;
  return *life.started + std::clamp(seconds(*pod.spec.active_seconds), seconds{0}, kWaitMax);
}

}  // namespace

seconds grace_of(const Pod& pod) {
  return std::clamp(seconds(pod.spec.grace_seconds), seconds{0}, kWaitMax);
}

bool has_run(const ContainerLife& container) {
  return container.active || container.status.state.terminated.has_value();
}

std::int32_t next_run(const ContainerLife& container) {
  return container.status.restarts + (container.status.state.terminated ? 1 : 0);
}

bool will_restart(const Pod& pod, const PodLife& life, const ContainerLife& container) {
  if (pod.metadata.deleted || !life.reason.empty() || life.kill_at) return false;
  if (container.is_sidecar) return true;
  const bool failed =
      container.status.state.terminated && container.status.state.terminated->exit_code != 0;
  if (container.is_init) return failed && pod.spec.restart_policy != "Never";
  if (pod.spec.restart_policy == "Always") return true;
  return pod.spec.restart_policy == "OnFailure" && failed;
}

bool inits_done(const PodLife& life) {
  return std::ranges::all_of(life.containers, [](const ContainerLife& container) {
    if (!container.is_init) return true;
    if (container.is_sidecar) return has_run(container);
    return !container.active && container.status.state.terminated &&
           container.status.state.terminated->exit_code == 0;
  });
}

PodLife adopt(const Pod& pod, WallTime now) {
  PodLife life{.started = pod.status.started, .address = pod.status.pod_ip};
  for (const Container& container : pod.spec.init_containers) {
    life.containers.push_back(fresh(container, true));
    recall(life.containers.back(), pod.status.init_containers, now);
  }
  for (const Container& container : pod.spec.containers) {
    life.containers.push_back(fresh(container, false));
    recall(life.containers.back(), pod.status.containers, now);
  }
  if (pod.status.phase == "Failed") {
    life.reason = pod.status.reason;
    life.message = pod.status.message;
  }
  return life;
}

PodPlan decide(const Pod& pod, const PodLife& life, WallTime now) {
  PodPlan plan;
  const seconds grace = grace_of(pod);
  if (pod.metadata.deleted) {
    plan_end(life, *pod.metadata.deleted, now, plan);
    return plan;
  }
  const bool was_over = pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
  if (!life.reason.empty() || was_over) {
    plan_end(life, now + grace, now, plan);
    return plan;
  }
  const auto deadline = deadline_of(pod, life);
  if (deadline && now >= *deadline) {
    plan.reason = "DeadlineExceeded";
    plan.message = "Pod was active on the node longer than the specified deadline";
    plan_end(life, now + grace, now, plan);
    return plan;
  }
  if (failed_init(pod, life) || mains_done(pod, life)) {
    plan_end(life, now + grace, now, plan);  // sidecars go last
    return plan;
  }
  if (deadline) wake_at(plan, *deadline);
  for (std::size_t i = 0; i < life.containers.size(); ++i)
    if (!plan_container(pod, life, i, now, plan)) break;
  return plan;
}

void note_start(ContainerLife& container, std::string container_id, WallTime now) {
  ContainerStatus& status = container.status;
  if (status.state.terminated) {
    status.last_state = {.terminated = status.state.terminated};
    ++status.restarts;
    container.backoff = container.backoff == seconds{0}
                            ? kBackoffMin
                            : std::min(container.backoff * 2, kBackoffMax);
  }
  status.state = {.running = Running{.started = now}};
  status.container_id = std::move(container_id);
  container.active = true;
}

void note_end(ContainerLife& container, Terminated end) {
  if (end.started && end.finished && *end.finished - *end.started >= kBackoffReset)
    container.backoff = seconds{0};
  end.container_id = container.status.container_id;
  container.status.state = {.terminated = std::move(end)};
  container.active = false;
}

}  // namespace amdahl::local
