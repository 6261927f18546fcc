#include "tests/simulation/process.hpp"

namespace amdahl::simulation {

Process::Process(const Subject& subject, const WireWorld& world, ManualClock& clock, Rng rng,
                 const Options& options)
    : options_(options),
      clock_(world.executor, clock),
      wire_(world, clock_, rng.split(),
            {.actor = {.name = options.identity, .is_operator = true},
             .replica = options.replica,
             .crash = options.on_crash}),
      client_(wire_, clock_, rng.split()),
      group_(world.executor) {
  controller::ManagerOptions manager;
  manager.election = controller::LeaderElectionOptions{
      .lease = {.ns = std::string(kNamespace), .name = "operator"},
      .identity = options.identity,
      .timings = options.timings};
  manager.event_source = {.controller = "example/simulated", .instance = options.identity};
  program_ = subject.start(
      {.executor = world.executor, .client = client_, .metrics = metrics_, .log = Log()}, rng,
      std::move(manager));
  group_.spawn(options.identity, run(*this));
}

Task<void> Process::run(Process& self) {
  (void)co_await self.program_->manager().run();
  if (!self.killed_) self.options_.on_end();
}

std::optional<api::ReportReply> Process::report(const api::Report& report) {
  if (killed_ || clock_.frozen()) return std::nullopt;
  return program_->report(report, clock_.monotonic());
}

void Process::kill() {
  if (killed_) return;
  killed_ = true;
  wire_.cut();
  clock_.resume();
  group_.stop();
}

}  // namespace amdahl::simulation
