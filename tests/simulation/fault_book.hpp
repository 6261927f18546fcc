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
  const Fault* at_request(Monotonic now) {
    // Leases are renewed for ever, and faults have an end.
    if (now >= faults_end()) return nullptr;
    ++requests_;
    return find([this](const Fault& fault) {
      return fault.kind >= FaultKind::kRefuse && fault.kind <= FaultKind::kLoseReply &&
             static_cast<std::uint64_t>(fault.at) == requests_;
    });
  }
  const Fault* at_write(bool of_lease, Monotonic now) {
    if (of_lease && now >= faults_end()) return nullptr;
    const std::uint64_t count = of_lease ? ++lease_writes_ : ++writes_;
    return find([=](const Fault& fault) {
      return fault.kind <= FaultKind::kFreezeAtWrite && (fault.arg == kAtLease) == of_lease &&
             static_cast<std::uint64_t>(fault.at) == count;
    });
  }
  // The window that is open now; null: none.
  const Fault* open(FaultKind kind, std::int32_t replica, Monotonic now) const {
    return find([=](const Fault& fault) {
      return fault.kind == kind && fault.replica == replica && now >= start(fault) &&
             now < end(fault);
    });
  }
  static Monotonic faults_end() { return Monotonic{} + std::chrono::milliseconds{kFaultsEndMs}; }
  static Monotonic start(const Fault& fault) {
    return Monotonic{} + std::chrono::milliseconds{fault.at};
  }
  static Monotonic end(const Fault& fault) {
    const std::int64_t ms = std::min(fault.at + fault.for_ms, kFaultsEndMs);
    return Monotonic{} + std::chrono::milliseconds{ms};
  }
  const FaultPlan& plan() const { return plan_; }
  std::uint64_t writes() const { return writes_; }
  std::uint64_t lease_writes() const { return lease_writes_; }
  std::uint64_t requests() const { return requests_; }

 private:
  template <class Wanted>
  const Fault* find(Wanted wanted) const {
    for (const Fault& fault : plan_)
      if (wanted(fault)) return &fault;
    return nullptr;
  }

  const FaultPlan& plan_;
  std::uint64_t requests_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t lease_writes_ = 0;
};

}  // namespace amdahl::simulation
