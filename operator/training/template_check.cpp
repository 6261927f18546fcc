#include "operator/training/template_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "operator/api/names.hpp"
#include "operator/training/checkpoint_volume.hpp"
#include "operator/training/gang_backend.hpp"
#include "operator/training/pod_resources.hpp"

namespace amdahl::training {
namespace {

using Fault = std::optional<std::string>;

const Json kNothing;

const Json& member(const Json& object, const char* key) {
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

bool is_true(const Json& value) {
  return value.is_boolean() && value.get<bool>();
}

Fault host_fault(const Json& pod) {
  for (const char* key : {"hostNetwork", "hostPID", "hostIPC"})
    if (is_true(member(pod, key)))
      return fmt::format("template.spec.{}: pods of jobs do not share the node's own", key);
  if (!member(pod, "nodeName").is_null())
    return "template.spec.nodeName: the scheduler chooses the node; use nodeSelector";
  if (const Json& list = member(member(pod, "securityContext"), "sysctls"); !list.empty())
    return "template.spec.securityContext.sysctls: not allowed";
  return std::nullopt;
}

Fault volume_fault(const Json& pod) {
  std::size_t index = 0;
  for (const Json& volume : member(pod, "volumes")) {
    if (volume.is_object() && volume.contains("hostPath"))
      return fmt::format("template.spec.volumes[{}].hostPath: folders of the node are not allowed",
                         index);
    ++index;
  }
  return std::nullopt;
}

Fault container_fault(const Json& container, const std::string& path) {
  const Json& security = member(container, "securityContext");
  if (is_true(member(security, "privileged")))
    return path + ".securityContext.privileged: not allowed";
  if (!member(member(security, "capabilities"), "add").empty())
    return path + ".securityContext.capabilities.add: not allowed";
  if (const Json& mount = member(security, "procMount"); mount.is_string() && mount != "Default")
    return path + ".securityContext.procMount: not allowed";
  std::size_t index = 0;
  for (const Json& port : member(container, "ports")) {
    if (const Json& host = member(port, "hostPort"); host.is_number() && host != 0)
      return fmt::format("{}.ports[{}].hostPort: not allowed", path, index);
    ++index;
  }
  return std::nullopt;
}

Fault containers_fault(const Json& pod) {
  for (const char* which : {"initContainers", "containers"}) {
    std::size_t index = 0;
    for (const Json& container : member(pod, which))
      if (auto fault =
              container_fault(container, fmt::format("template.spec.{}[{}]", which, index++)))
        return fault;
  }
  return std::nullopt;
}

Fault identity_fault(const Json& pod, const PodOptions& options) {
  for (const char* key : {"serviceAccountName", "serviceAccount"}) {
    const Json& account = member(pod, key);
    if (!account.is_string() || account == "" || account == "default") continue;
    if (std::ranges::find(options.service_accounts, account.get<std::string>()) ==
        options.service_accounts.end())
      return fmt::format("template.spec.{}: {} is not among the accounts that jobs may use", key,
                         account.get<std::string>());
  }
  return std::nullopt;
}

Fault scheduling_fault(const Json& pod, const api::TrainingJobSpec& spec) {
  const Json& scheduler = member(pod, "schedulerName");
  const std::string_view ours = gang_backend(spec.scheduling.gang).scheduler();
  const std::string_view expected = ours.empty() ? "default-scheduler" : ours;
  if (scheduler.is_string() && scheduler != "" && scheduler != expected)
    return fmt::format("template.spec.schedulerName: scheduling.gang {} needs {}",
                       enum_name(spec.scheduling.gang), expected);
  constexpr std::array kReserved{"node-role.kubernetes.io/control-plane",
                                 "node-role.kubernetes.io/master"};
  for (const Json& toleration : member(pod, "tolerations"))
    for (const char* key : kReserved)
      if (member(toleration, "key") == key)
        return fmt::format("template.spec.tolerations: {} is not for jobs", key);
  const Json& restart = member(pod, "restartPolicy");
  if (restart.is_string() && restart != "Never")
    return "template.spec.restartPolicy: a gang restarts as a whole; leave it out or say Never";
  return std::nullopt;
}

Fault trainer_fault(const api::TrainingJobSpec& spec, const PodOptions& options) {
  const Json* const trainer = trainer_of(spec.pod_template);
  if (trainer == nullptr)
    return fmt::format("template.spec.containers: needs one container, or one that is named {}",
                       api::kTrainerContainer);
  const bool wrapped = !options.launch_image.empty() || !options.launch_path.empty();
  if (wrapped && member(*trainer, "command").empty() && member(*trainer, "args").empty())
    return "template.spec.containers: the trainer needs a command, because amdahl-launch runs it";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> spec_fault(const api::TrainingJobSpec& spec, const PodOptions& options) {
  if (spec.nodes < 1 || spec.nodes > api::kNodesMax)
    return fmt::format("nodes: {} is not between 1 and {}", spec.nodes, api::kNodesMax);
  if (spec.processes_per_node &&
      (*spec.processes_per_node < 1 || *spec.processes_per_node > api::kProcessesPerNodeMax))
    return fmt::format("processesPerNode: {} is not between 1 and {}", *spec.processes_per_node,
                       api::kProcessesPerNodeMax);
  if (auto fault = trainer_fault(spec, options)) return fault;
  const Json& pod = member(spec.pod_template, "spec");
  if (auto fault = host_fault(pod)) return fault;
  if (auto fault = volume_fault(pod)) return fault;
  if (auto fault = containers_fault(pod)) return fault;
  if (auto fault = identity_fault(pod, options)) return fault;
  if (auto fault = scheduling_fault(pod, spec)) return fault;
  return arena_fault(spec);
}

}  // namespace amdahl::training
