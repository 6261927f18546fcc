#include "operator/training/template_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_member.hpp"
#include "operator/api/names.hpp"
#include "operator/api/template_rules.hpp"
#include "operator/training/checkpoint_volume.hpp"
#include "operator/training/gang_backend.hpp"
#include "operator/training/pod_resources.hpp"
#include "operator/training/template_shape.hpp"
#include "operator/training/unreadable.hpp"

namespace amdahl::training {
namespace {

using Fault = std::optional<std::string>;

// Which accounts jobs may use depends on the installation, so the admission policy has no such row.
Fault identity_fault(const Json& pod, const PodOptions& options) {
  for (const char* key : {"serviceAccountName", "serviceAccount"}) {
    const std::string_view account = text_of(pod, key);
    if (account.empty() || account == "default") continue;
    if (std::ranges::find(options.service_accounts, account) == options.service_accounts.end())
      return fmt::format("spec.template.spec.{}: {} is not among the accounts that jobs may use",
                         key, account);
  }
  return std::nullopt;
}

Fault scheduler_fault(const Json& pod, const api::TrainingJobSpec& spec) {
  const std::string_view scheduler = text_of(pod, "schedulerName");
  const std::string_view ours = gang_backend(spec.scheduling.gang).scheduler();
  const std::string_view expected = ours.empty() ? "default-scheduler" : ours;
  if (scheduler.empty() || scheduler == expected) return std::nullopt;
  return fmt::format("spec.template.spec.schedulerName: scheduling.gang {} needs {}",
                     enum_name(spec.scheduling.gang), expected);
}

Fault trainer_fault(const api::TrainingJobSpec& spec, const PodOptions& options) {
  const Json* const trainer = trainer_of(spec.pod_template);
  if (trainer == nullptr)
    return fmt::format(
        "spec.template.spec.containers: needs one container, or one that is named {}",
        api::kTrainerContainer);
  const bool wrapped = !options.launch_image.empty() || !options.launch_path.empty();
  if (wrapped && member_of(*trainer, "command").empty() && member_of(*trainer, "args").empty())
    return "spec.template.spec.containers: the trainer needs a command, because amdahl-launch runs "
           "it";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> spec_fault(const api::TrainingJobSpec& spec, const PodOptions& options) {
  if (spec.nodes < 1 || spec.nodes > api::kNodesMax)
    return fmt::format("spec.nodes: {} is not between 1 and {}", spec.nodes, api::kNodesMax);
  if (spec.processes_per_node &&
      (*spec.processes_per_node < 1 || *spec.processes_per_node > api::kProcessesPerNodeMax))
    return fmt::format("spec.processesPerNode: {} is not between 1 and {}",
                       *spec.processes_per_node, api::kProcessesPerNodeMax);
  if (auto fault = shape_fault(spec.pod_template)) return fault;
  if (auto fault = trainer_fault(spec, options)) return fault;
  const Json& pod = member_of(spec.pod_template, "spec");
  if (auto fault = scheduler_fault(pod, spec)) return fault;
  if (auto fault = api::template_refusal(spec)) return fault;
  if (auto fault = identity_fault(pod, options)) return fault;
  return arena_fault(spec);
}

std::optional<std::string> job_fault(const TrainingJob& job, const PodOptions& options) {
  const std::string& name = job.metadata.name;
  if (name.size() > api::kJobNameMax)  // the CRD says the same; an older one may not
    return fmt::format("metadata.name: {} characters; with more than {} its ranks have no DNS name",
                       name.size(), api::kJobNameMax);
  if (auto fault = unreadable_template(job)) return fault;
  return spec_fault(job.spec, options);
}

}  // namespace amdahl::training
