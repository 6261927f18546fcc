// What every example's main() does: a clock, a seed, a session from KUBECONFIG, and a controller
// that runs until a signal.
//
// Program is built from a Runtime, a seed, a namespace and ManagerOptions, and has a member
// `manager`. The simulation builds the same Program on a wire of its own.
#pragma once

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/metrics.hpp"
#include "base/task_group.hpp"
#include "operator/controller/manager.hpp"
#include "operator/controller/signals.hpp"
#include "operator/kube/session.hpp"

namespace amdahl::examples {

template <class Program>
Task<int> run_until_signal(boost::asio::io_context& io, Rng rng, kube::Session& session, Log log,
                           std::string name) {
  MetricsRegistry metrics;
  Program program(
      {.executor = io.get_executor(), .client = session.client(), .metrics = metrics, .log = log},
      rng, session.ns(), {.event_source = {.controller = "example/" + name}});
  const controller::StopSignals signals(
      io.get_executor(), [&program] { program.manager.stop(); }, [] { std::_Exit(1); });
  const auto ended = co_await program.manager.run();
  if (!ended) log.error("stopped", {{"cause", ended.error().context}});
  (void)co_await session.close(session.client().clock().monotonic() + std::chrono::seconds{5});
  co_return ended ? 0 : 1;
}

template <class Program>
Result<int> start(std::string name, std::string ns) {
  boost::asio::io_context io;
  RealClock clock;
  Rng rng(static_cast<std::uint64_t>(clock.wall().time_since_epoch().count()));
  const Log log(clock, fd_log_sink(STDERR_FILENO));
  const kube::Environment environment = kube::process_environment();
  TRY(const kube::Config config, kube::load_config({.ns = ns}, environment));
  TRY(const auto session, kube::Session::make(io.get_executor(), clock, rng.split(), config,
                                              environment, {.log = log}));
  return run_until_complete(
      io, run_until_signal<Program>(io, rng.split(), *session, log, std::move(name)), {.wall = {}});
}

// The whole of main(): NAME [NAMESPACE].
template <class Program>
int run_example(const char* name, int argc, char** argv) {
  const auto code = start<Program>(name, argc > 1 ? argv[1] : "");
  if (!code) std::fprintf(stderr, "%s: %s\n", name, code.error().context.c_str());
  return code ? *code : 1;
}

}  // namespace amdahl::examples
