// amdahl-operator: makes clock, seed, log and session, and runs the operator until a signal.
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <cstdlib>

#include "base/descriptor_limit.hpp"
#include "base/task_group.hpp"
#include "operator/controller/signals.hpp"
#include "operator/kube/session.hpp"
#include "operator/process/settings.hpp"

namespace {
using namespace amdahl;

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr std::chrono::seconds kCloseMax{5};

// Unique for each start, and still tells which pod it was.
std::string identity_of(const kube::Environment& environment, Rng& rng) {
  const auto pod = environment.variables.find("HOSTNAME");
  return fmt::format("{}-{:08x}",
                     pod == environment.variables.end() ? "amdahl-operator" : pod->second,
                     rng.below(std::uint64_t{1} << 32U));
}

Task<Result<void>> run_until_signal(boost::asio::io_context& io, Rng rng, kube::Session& session,
                                    OperatorOptions options, Log log) {
  MetricsRegistry metrics;
  OperatorProcess process(
      {.executor = io.get_executor(), .client = session.client(), .metrics = metrics, .log = log},
      rng, std::move(options));
  const controller::StopSignals signals(
      io.get_executor(), [&process] { process.stop(); }, [] { std::_Exit(kFailed); });
  Result<void> ended = co_await process.run();
  (void)co_await session.close(session.client().clock().monotonic() + kCloseMax);
  co_return ended;
}

Result<void> start(const OperatorSettings& settings) {
  boost::asio::io_context io(1);
  RealClock clock;
  Rng rng(static_cast<std::uint64_t>(clock.wall().time_since_epoch().count()) ^
          static_cast<std::uint64_t>(::getpid()));
  const Log log(clock, fd_log_sink(STDERR_FILENO));
  const std::size_t descriptors = raise_descriptor_limit();
  log.info("connections are limited",
           {{"descriptors", descriptors}, {"reporters_max", reporters_max(descriptors)}});
  const kube::Environment environment = kube::process_environment();
  TRY(const kube::Config config,
      kube::load_config({.kubeconfig = settings.kubeconfig, .context = settings.context},
                        environment));
  TRY(const auto session,
      kube::Session::make(io.get_executor(), clock, rng.split(), config, environment,
                          {.user_agent = "amdahl-operator", .log = log}));
  TRY(OperatorOptions options,
      operator_options(settings, session->ns(), identity_of(environment, rng)));
  options.stores.variable = [&environment](std::string_view name) {
    const auto found = environment.variables.find(std::string(name));
    return found == environment.variables.end() ? std::string() : found->second;
  };
  // Whatever else this process would still do, it would do beside the new leader.
  options.on_lost = [&log](const Error& why) {
    log.critical("leadership lost", {{"error", why}});
    std::_Exit(kFailed);
  };
  return run_until_complete(
      io, run_until_signal(io, rng.split(), *session, std::move(options), log), {.wall = {}});
}

}  // namespace

int main(int argc, char** argv) {
  const Reading reading = read_settings({argv, static_cast<std::size_t>(argc)});
  if (!reading.help.empty()) std::fputs(reading.help.c_str(), stdout);
  if (!reading.error.empty()) {
    std::fprintf(stderr, "amdahl-operator: %s\n", reading.error.c_str());
    return kWrongUsage;
  }
  if (!reading.settings) return 0;
  const auto ended = start(*reading.settings);
  if (!ended) std::fprintf(stderr, "amdahl-operator: %s\n", ended.error().context.c_str());
  return ended ? 0 : kFailed;
}
