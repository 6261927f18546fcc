#include "cli/cluster_access.hpp"

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>

#include "base/rng.hpp"
#include "base/task_group.hpp"
#include "local/cluster/server_process.hpp"
#include "operator/kube/session.hpp"

namespace amdahl::cli {
namespace {

constexpr std::chrono::seconds kCloseMax{5};

Task<Result<int>> run_and_close(Program& program, kube::Session& session, WithAccess work) {
  auto result = co_await work({.client = session.client(), .ns = session.ns()});
  (void)co_await session.close(program.clock.monotonic() + kCloseMax);
  co_return result;
}

// The folder's kubeconfig, when its server runs.
Result<std::string> local_kubeconfig(const Program& program) {
  TRY(const auto folder, local::DataFolder::choose("", program.environment));
  TRY(const auto running, local::find_server(folder));
  if (!running || !running->status)
    return fail(Errc::kNotFound, "no local cluster runs either ('amdahl local up' starts one)");
  return folder.file("kubeconfig");
}

}  // namespace

void add_access_options(CLI::App& verb, AccessOptions& options) {
  verb.add_option("--kubeconfig", options.kubeconfig, "kubeconfig to use")->type_name("PATH");
  verb.add_option("--context", options.context, "context of the kubeconfig")->type_name("NAME");
  verb.add_option("-n,--namespace", options.ns, "namespace (default: that of the context)")
      ->type_name("NS");
}

std::string access_help() {
  return "The cluster is that of --kubeconfig, else of KUBECONFIG, else of the pod this runs in, "
         "else\n"
         "of ~/.kube/config. When there is none of them: the one of 'amdahl local up', if it "
         "runs.\n";
}

Result<kube::Config> find_cluster(const Program& program, const AccessOptions& options) {
  const kube::ConfigOptions wanted{
      .kubeconfig = options.kubeconfig, .context = options.context, .ns = options.ns};
  auto config = kube::load_config(wanted, program.environment);
  const bool named = !options.kubeconfig.empty() || program.environment.get("KUBECONFIG");
  if (config || named || config.error().code != Errc::kNotFound) return config;
  auto path = local_kubeconfig(program);
  if (!path) return fail(Errc::kNotFound, "{}; {}", config.error().context, path.error().context);
  kube::ConfigOptions here = wanted;
  here.kubeconfig = *std::move(path);
  return kube::load_config(here, program.environment);
}

Result<int> with_cluster(Program& program, const kube::Config& config, const WithAccess& work) {
  boost::asio::io_context io(1);
  TRY(const auto session, kube::Session::make(io.get_executor(), program.clock, Rng(program.seed),
                                              config, program.environment));
  return run_until_complete(io, run_and_close(program, *session, work), {.wall = {}});
}

}  // namespace amdahl::cli
