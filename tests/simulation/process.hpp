// One start of an operator process in the world, from its first instruction to its death.
//
// Thread: one. Lifetime: until the end of the world, because packets of a dead process may still be
// under way. Failure: on_end is called when the program ended by itself, as after a lost lease.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/metrics.hpp"
#include "base/task_group.hpp"
#include "operator/kube/client.hpp"
#include "tests/simulation/process_clock.hpp"
#include "tests/simulation/sim_wire.hpp"
#include "tests/simulation/subject.hpp"

namespace amdahl::simulation {

class Process {
 public:
  struct Options {
    std::string identity = {};
    std::int32_t replica = 0;
    controller::LeaseTimings timings{};
    std::function<void()> on_crash = {};  // a fault of the plan kills it
    std::function<void()> on_end = {};
  };
  Process(const Subject& subject, const WireWorld& world, ManualClock& clock, Rng rng,
          const Options& options);

  void kill();  // SIGKILL: nothing of it reaches the server any more
  bool gone() const { return group_.empty(); }
  std::optional<api::ReportReply> report(const api::Report& report);  // nullopt: no answer
  bool killed() const { return killed_; }
  ProcessClock& clock() { return clock_; }
  SimWire& wire() { return wire_; }

 private:
  static Task<void> run(Process& self);

  Options options_;
  ProcessClock clock_;
  SimWire wire_;
  kube::Client client_;
  MetricsRegistry metrics_;
  std::unique_ptr<Program> program_;
  TaskGroup group_;
  bool killed_ = false;
};

}  // namespace amdahl::simulation
