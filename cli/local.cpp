#include <CLI/CLI.hpp>

#include "cli/verbs.hpp"

namespace amdahl::cli {

void add_local(CLI::App& app, Program& program, Action& action) {
  CLI::App* local = app.add_subcommand(
      "local",
      "A cluster on this machine: an API server, a scheduler and a kubelet in one process.");
  local->require_subcommand(1);
  local->footer(
      "The cluster lives in a folder, ~/.amdahl/local unless --data says otherwise.\n"
      "It listens on loopback only and knows one user: whoever can read its kubeconfig.\n");
  add_local_up(*local, program, action);
  add_local_status(*local, program, action);
  add_local_down(*local, program, action);
  add_local_reset(*local, program, action);
  add_local_serve(*local, program, action);
}

}  // namespace amdahl::cli
