// What `kubectl get pods` says about a pod; see table.hpp.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/table.hpp"
#include "local/apiserver/kinds/table_kinds.hpp"

namespace amdahl::local {

namespace {

struct Seen {
  std::string reason = {};
  std::int64_t restarts = 0;
  std::optional<WallTime> last_restart = std::nullopt;
  std::int64_t ready = 0;
};

void count_restarts(const Json& status, Seen& seen) {
  seen.restarts += number_at(status, {"restartCount"}).value_or(0);
  const auto ended = parse_time(text_at(status, {"lastState", "terminated", "finishedAt"}));
  if (ended && (!seen.last_restart || *ended > *seen.last_restart)) seen.last_restart = *ended;
}

std::string ended_reason(const Json& terminated) {
  std::string reason = text_at(terminated, {"reason"});
  if (!reason.empty()) return reason;
  const std::int64_t signal = number_at(terminated, {"signal"}).value_or(0);
  if (signal != 0) return "Signal:" + std::to_string(signal);
  return "ExitCode:" + std::to_string(number_at(terminated, {"exitCode"}).value_or(0));
}

bool has_condition(const Json& pod, std::string_view type, std::string_view status) {
  return std::ranges::any_of(list_at(pod, {"status", "conditions"}), [&](const Json& condition) {
    return text_at(condition, {"type"}) == type && text_at(condition, {"status"}) == status;
  });
}

bool is_gated(const Json& pod) {
  return std::ranges::any_of(list_at(pod, {"status", "conditions"}), [](const Json& condition) {
    return text_at(condition, {"type"}) == "PodScheduled" &&
           text_at(condition, {"reason"}) == "SchedulingGated";
  });
}

bool is_sidecar(const Json& pod, const std::string& name) {
  return std::ranges::any_of(list_at(pod, {"spec", "initContainers"}), [&](const Json& container) {
    return text_at(container, {"name"}) == name &&
           text_at(container, {"restartPolicy"}) == "Always";
  });
}

// True while an init container has still to finish; then the reason says which.
bool look_at_init(const Json& pod, Seen& seen, Seen& sidecars) {
  const Json& statuses = list_at(pod, {"status", "initContainerStatuses"});
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const Json& status = statuses[i];
    const bool sidecar = is_sidecar(pod, text_at(status, {"name"}));
    count_restarts(status, seen);
    if (sidecar) count_restarts(status, sidecars);
    const Json* terminated = at(status, {"state", "terminated"});
    if (terminated != nullptr && number_at(*terminated, {"exitCode"}).value_or(0) == 0) continue;
    if (sidecar && flag_at(status, {"started"})) {
      if (flag_at(status, {"ready"})) ++seen.ready;
      continue;
    }
    const std::string waiting = text_at(status, {"state", "waiting", "reason"});
    if (terminated != nullptr) {
      seen.reason = "Init:" + ended_reason(*terminated);
    } else if (!waiting.empty() && waiting != "PodInitializing") {
      seen.reason = "Init:" + waiting;
    } else {
      seen.reason = "Init:" + std::to_string(i) + "/" +
                    std::to_string(list_at(pod, {"spec", "initContainers"}).size());
    }
    return true;
  }
  return false;
}

void look_at_containers(const Json& pod, Seen& seen) {
  const Json& statuses = list_at(pod, {"status", "containerStatuses"});
  bool running = false;
  for (std::size_t i = statuses.size(); i-- > 0;) {
    const Json& status = statuses[i];
    count_restarts(status, seen);
    const std::string waiting = text_at(status, {"state", "waiting", "reason"});
    const Json* terminated = at(status, {"state", "terminated"});
    if (!waiting.empty()) {
      seen.reason = waiting;
    } else if (terminated != nullptr) {
      seen.reason = ended_reason(*terminated);
    } else if (flag_at(status, {"ready"}) && at(status, {"state", "running"}) != nullptr) {
      running = true;
      ++seen.ready;
    }
  }
  if (seen.reason == "Completed" && running) {
    seen.reason = has_condition(pod, "Ready", "True") ? "Running" : "NotReady";
  }
}

Seen look_at(const Json& pod) {
  Seen seen{.reason = text_at(pod, {"status", "phase"})};
  const std::string reason = text_at(pod, {"status", "reason"});
  if (!reason.empty()) seen.reason = reason;
  if (is_gated(pod)) seen.reason = "SchedulingGated";
  Seen sidecars;
  const bool initializing = look_at_init(pod, seen, sidecars);
  if (!initializing || has_condition(pod, "Initialized", "True")) {
    seen.restarts = sidecars.restarts;
    seen.last_restart = sidecars.last_restart;
    look_at_containers(pod, seen);
  }
  const std::string phase = text_at(pod, {"status", "phase"});
  if (at(pod, {"metadata", "deletionTimestamp"}) != nullptr) {
    if (reason == "NodeLost") {
      seen.reason = "Unknown";
    } else if (phase != "Succeeded" && phase != "Failed") {
      seen.reason = "Terminating";
    }
  }
  return seen;
}

std::string or_none(std::string text) {
  return text.empty() ? "<none>" : std::move(text);
}

std::string gates_text(const Json& pod) {
  const Json& gates = list_at(pod, {"spec", "readinessGates"});
  if (gates.empty()) return "<none>";
  std::size_t open = 0;
  for (const Json& gate : gates) {
    if (has_condition(pod, text_at(gate, {"conditionType"}), "True")) ++open;
  }
  return std::to_string(open) + "/" + std::to_string(gates.size());
}

}  // namespace

Json pod_cells(const Json& pod, WallTime now) {
  const Seen seen = look_at(pod);
  std::size_t total = list_at(pod, {"spec", "containers"}).size();
  for (const Json& container : list_at(pod, {"spec", "initContainers"})) {
    if (text_at(container, {"restartPolicy"}) == "Always") ++total;
  }
  std::string restarts = std::to_string(seen.restarts);
  if (seen.restarts != 0 && seen.last_restart) {
    restarts += " (" + human_duration(now - *seen.last_restart) + " ago)";
  }
  const Json& ips = list_at(pod, {"status", "podIPs"});
  return {text_at(pod, {"metadata", "name"}),
          std::to_string(seen.ready) + "/" + std::to_string(total),
          seen.reason,
          std::move(restarts),
          human_age(text_at(pod, {"metadata", "creationTimestamp"}), now),
          or_none(ips.empty() ? std::string() : text_at(ips[0], {"ip"})),
          or_none(text_at(pod, {"spec", "nodeName"})),
          or_none(text_at(pod, {"status", "nominatedNodeName"})),
          gates_text(pod)};
}

Json pod_row_conditions(const Json& pod) {
  const std::string phase = text_at(pod, {"status", "phase"});
  if (phase != "Succeeded" && phase != "Failed") return Json::array();
  const bool good = phase == "Succeeded";
  return Json::array(
      {{{"type", "Completed"},
        {"status", "True"},
        {"reason", phase},
        {"message", good ? "The pod has completed successfully." : "The pod failed."}}});
}

}  // namespace amdahl::local
