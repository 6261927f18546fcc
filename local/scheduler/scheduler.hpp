// The gang scheduler of the embedded cluster: an ordinary controller.
//
//   Scheduler scheduler({executor, client, metrics, log}, rng);
//   tasks.spawn("scheduler", ...scheduler.run()...);
//   scheduler.stop();
//
// The CRDs of volcano_crds.hpp are there before it starts: until every kind it watches is listed
// once, it decides nothing. Only one runs at a time; it takes no lease.
//
// Thread: one. Lifetime: the runtime's client and registry outlive it; run() has returned before it
// dies. Failure: run() ends with Errc::kCancelled, or Errc::kFenced when a write was refused
// because this process may no longer lead; everything else is logged and tried again.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "operator/controller/controller.hpp"

namespace amdahl::local {

struct SchedulerOptions {
  // How long a pass waits for more of what arrives together.
  std::chrono::nanoseconds gather = std::chrono::milliseconds{10};
  std::chrono::nanoseconds full_pass = std::chrono::hours{1};
  std::string field_manager = "amdahl-scheduler";
};

class Scheduler {
 public:
  Scheduler(controller::Runtime runtime, Rng rng, SchedulerOptions options = {});
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  Task<Result<void>> run();
  void stop();  // no new pass begins; run() returns when the one that runs has ended

  bool synced() const;           // has seen everything once
  std::uint64_t passes() const;  // decisions made
  std::uint64_t writes() const;  // requests that change something

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace amdahl::local
