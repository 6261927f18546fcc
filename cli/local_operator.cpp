#include "cli/local_operator.hpp"

#include <memory>
#include <nlohmann/json.hpp>

#include "operator/api/training_job_crd.hpp"
#include "operator/process/operator_process.hpp"

namespace amdahl::cli {

std::string training_job_definition() {
  return api::training_job_crd().dump();
}

void add_operator(local::Components& components, Rng rng, std::string launch,
                  std::function<std::string(std::string_view)> variable) {
  // Probes, metrics and reports on free ports of loopback; the log says which.
  const auto process = std::make_shared<OperatorProcess>(
      components.runtime("system:serviceaccount:amdahl-system:amdahl-operator"), rng,
      OperatorOptions{.stores = {.local_files = true, .variable = std::move(variable)},
                      .pods = {.launch_path = std::move(launch), .shared_ports = true}});
  components.add(
      "operator", [process] { return process->run(); },
      local::Components::asks([process] { process->stop(); }));
}

}  // namespace amdahl::cli
