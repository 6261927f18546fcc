#include "cli/local_server.hpp"

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/deadline.hpp"
#include "base/log.hpp"
#include "base/rng.hpp"
#include "base/task_group.hpp"
#include "cli/local_operator.hpp"
#include "local/cluster/server_process.hpp"
#include "operator/controller/signals.hpp"

namespace amdahl::cli {
namespace {

constexpr std::chrono::seconds kStopMax{15};
constexpr std::size_t kHostNamesBytesMax = std::size_t{1} << 20;

std::vector<std::pair<std::string, std::string>> host_variables(const kube::Environment& from) {
  std::vector<std::pair<std::string, std::string>> kept;
  for (const std::string_view name : local::kHostVariables)
    if (const auto found = from.variables.find(std::string(name)); found != from.variables.end())
      kept.emplace_back(found->first, found->second);
  return kept;
}

// Until a signal comes or a part of the cluster ends.
Task<Result<void>> wait_for_end(Program& program, local::LocalCluster& cluster) {
  const auto executor = co_await boost::asio::this_coro::executor;
  Notify ended(executor);
  bool asked = false;
  const controller::StopSignals signals(
      executor,
      [&] {
        asked = true;
        ended.notify_all();
      },
      program.exit_at_once);
  cluster.on_failure([&ended] { ended.notify_all(); });
  while (!asked && !cluster.failure()) CO_TRY(co_await ended.wait(program.clock, Monotonic::max()));
  if (cluster.failure()) co_return std::unexpected<Error>(*cluster.failure());
  co_return Result<void>{};
}

Task<Result<void>> serve(Program& program, local::ClusterOptions options, ServerEvents events) {
  const auto executor = co_await boost::asio::this_coro::executor;
  local::LocalCluster cluster(executor, program.clock, Rng(program.seed), std::move(options));
  Result<void> result = co_await cluster.start(events.progress);
  if (result) {
    events.ready(cluster);
    result = co_await wait_for_end(program, cluster);
  }
  const auto stopped = co_await cluster.stop(program.clock.monotonic() + kStopMax);
  co_return result ? stopped : result;
}

}  // namespace

Result<void> run_local_server(Program& program, const LocalOptions& options,
                              const ServerEvents& events) {
  TRY(const auto folder, local::DataFolder::choose(options.data, program.environment));
  TRY(folder.make());
  auto lock = local::FolderLock::take(folder);
  if (!lock) {
    TRY(const auto running, local::find_server(folder));
    if (!running) return std::unexpected(std::move(lock).error());
    return fail(Errc::kAlreadyExists, "the cluster in {} is {}", folder.path(), describe(*running));
  }
  TRY(const local::Settings last, local::read_settings(folder));
  TRY(const local::NodeShape nodes, nodes_of(options, last.nodes));
  TRY(const std::string host_path_root, host_path_root_of(options, last.host_path_root));
  const Log log(program.clock, fd_log_sink(STDERR_FILENO));
  local::ClusterOptions cluster{
      .folder = folder, .in_memory = options.in_memory, .nodes = nodes, .log = log};
  cluster.host_path_root = host_path_root;
  cluster.machine = {.cpu_milli = 1000 * ::sysconf(_SC_NPROCESSORS_ONLN),
                     .memory_bytes = ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGE_SIZE)};
  cluster.version = "v" AMDAHL_VERSION;
  cluster.shim = program.shim;
  cluster.host_variables = host_variables(program.environment);
  cluster.host_names = kube::read_file("/etc/hosts", kHostNamesBytesMax).value_or("");
  cluster.definitions = {training_job_definition()};
  if (!options.no_operator)
    cluster.add_more = [&program](local::Components& components) {
      add_operator(
          components, Rng(program.seed).split(), program.launch, [&program](std::string_view name) {
            const auto found = program.environment.variables.find(std::string(name));
            return found == program.environment.variables.end() ? std::string() : found->second;
          });
    };
  if (options.port) cluster.port = static_cast<std::uint16_t>(*options.port);
  boost::asio::io_context io(1);
  return run_until_complete(io, serve(program, std::move(cluster), events), {.wall = {}});
}

}  // namespace amdahl::cli
