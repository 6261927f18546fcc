// A client of the cluster that the command line, the environment or this machine names.
//
// Thread: one. Failure: what is missing of the configuration, or the verb's own error.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "base/task.hpp"
#include "cli/program.hpp"
#include "operator/kube/client.hpp"
#include "operator/kube/config.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace amdahl::cli {

struct AccessOptions {
  std::string kubeconfig = {};
  std::string context = {};
  std::string ns = {};
};
void add_access_options(CLI::App& verb, AccessOptions& options);
// One paragraph of help, the same for every verb that has these options.
std::string access_help();

struct Access {
  kube::Client& client;
  std::string ns;  // asked for, or the context's
};

// --kubeconfig, KUBECONFIG, the pod's service account, ~/.kube/config; when there is none of them,
// the cluster that 'amdahl local up' started.
Result<kube::Config> find_cluster(const Program& program, const AccessOptions& options);

// Runs one task with a client, and closes it. The task refers to what outlives this call.
using WithAccess = std::function<Task<Result<int>>(Access)>;
Result<int> with_cluster(Program& program, const kube::Config& config, const WithAccess& work);

}  // namespace amdahl::cli
