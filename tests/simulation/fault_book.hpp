// The plan of a run while it is played: which fault belongs to this write, this request, this
// moment.
//
// Thread: one. Lifetime: that of the run. Failure: none.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "tests/simulation/fault_plan.hpp"

namespace amdahl::simulation {

class FaultBook {
 public:
  explicit FaultBook(const FaultPlan& plan) : plan_(plan) {}

  // Each call counts one request of the operator, and one write.
  const Fault* at_request() { return find(++requests_, FaultKind::kRefuse, FaultKind::kLoseReply); }
  const Fault* at_write() {
    return find(++writes_, FaultKind::kCrashBeforeSend, FaultKind::kFreezeAtWrite);
  }
  // The window that is open now; null: none.
  const Fault* open(FaultKind kind, std::int32_t replica, Monotonic now) const {
    for (const Fault& fault : plan_)
      if (fault.kind == kind && fault.replica == replica && now >= start(fault) && now < end(fault))
        return &fault;
    return nullptr;
  }
  static Monotonic start(const Fault& fault) {
    return Monotonic{} + std::chrono::milliseconds{fault.at};
  }
  static Monotonic end(const Fault& fault) {
    const std::int64_t ms = std::min(fault.at + fault.for_ms, kFaultsEndMs);
    return Monotonic{} + std::chrono::milliseconds{ms};
  }
  const FaultPlan& plan() const { return plan_; }
  std::uint64_t writes() const { return writes_; }

 private:
  const Fault* find(std::uint64_t count, FaultKind first, FaultKind last) const {
    for (const Fault& fault : plan_)
      if (fault.kind >= first && fault.kind <= last &&
          static_cast<std::uint64_t>(fault.at) == count)
        return &fault;
    return nullptr;
  }

  const FaultPlan& plan_;
  std::uint64_t requests_ = 0;
  std::uint64_t writes_ = 0;
};

}  // namespace amdahl::simulation
