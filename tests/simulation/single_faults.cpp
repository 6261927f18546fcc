#include "tests/simulation/single_faults.hpp"

#include <algorithm>

namespace amdahl::simulation {
namespace {

constexpr std::int64_t kFreezeMs = 40'000;  // longer than any lease here
constexpr std::int32_t kBoth = 2;           // replicas of the operator
constexpr std::int32_t kBothAndServer = 3;  // they, and the clock of the server
constexpr std::int64_t kFirstMs = 100;      // of the times
constexpr std::int64_t kRestartMs = 5'000;
constexpr std::int64_t kVictimsTried = 4;  // children, in the order of their names

// One kind of fault at a time: of whom, of what, how much and for how long.
struct Timed {
  FaultKind kind = FaultKind::kKill;
  std::int32_t replicas = 1;
  std::vector<std::int64_t> args = {0};
  std::int64_t for_ms = 0;
};

std::vector<std::int64_t> victims() {
  std::vector<std::int64_t> all;
  for (std::int64_t n = 1; n <= kVictimsTried; ++n) all.push_back(n);
  return all;
}

std::vector<Timed> timed_kinds() {
  using enum FaultKind;
  return {{kKill, kBoth, {0}, kRestartMs},
          {kFreeze, kBoth, {0}, kFreezeMs},
          {kWallJump, kBothAndServer, {3'600, -3'600}},
          {kStaleStart, kBoth, {20}, 60'000},
          {kLag, kBoth, {30'000}, 60'000},
          {kReorder, kBoth, {30'000}, 60'000},
          {kBreakStreams, kBoth},
          {kDeafStreams, kBoth, {0}, 30'000},
          {kDuplicate, kBoth, {0}, 60'000},
          {kCoalesce, kBoth, {5'000}, 60'000},
          {kCompact, kBoth},
          {kPagedLists, kBoth, {0}, 60'000},
          {kSlowBinding, 1, {15'000}, 60'000},
          {kForeignEdit, 1, victims()},
          {kForeignDelete, 1, victims()},
          {kPodKill, 1, {1, 2}},
          {kPodDelete, 1, {1, 2}},
          {kPreempt, 1, {1}, 20'000},
          {kNodeLoss, 1, {1}, 20'000}};
}

class Plans {
 public:
  Plans(const Subject& subject, std::uint64_t workload) : subject_(subject), workload_(workload) {}

  void add(FaultPlan plan) {
    if (!subject_.kinds.contains(plan.front().kind)) return;
    all_.push_back({.subject = subject_.name,
                    .seed = workload_,
                    .workload = workload_,
                    .plan = std::move(plan),
                    .caught = subject_.wrong});
  }
  void at_writes(std::uint64_t count, std::int64_t arg) {
    for (std::uint64_t n = 1; n <= count; ++n)
      for (const FaultKind kind : {FaultKind::kCrashBeforeSend, FaultKind::kCrashAfterSend,
                                   FaultKind::kCrashAfterReply, FaultKind::kFreezeAtWrite})
        add({{kind, static_cast<std::int64_t>(n), 0, arg, kFreezeMs}});
  }
  void at_requests(std::uint64_t count) {
    for (std::uint64_t n = 1; n <= count; ++n) {
      const auto at = static_cast<std::int64_t>(n);
      for (const std::int64_t status : kRefusals) add({{FaultKind::kRefuse, at, 0, status, 0}});
      for (const FaultKind kind :
           {FaultKind::kResetBefore, FaultKind::kResetAfter, FaultKind::kLoseReply})
        add({{kind, at, 0, 0, 0}});
    }
  }
  void at_times(const Timed& timed, std::int64_t at) {
    for (std::int32_t replica = 0; replica < timed.replicas; ++replica)
      for (const std::int64_t arg : timed.args) {
        FaultPlan plan{{timed.kind, at, replica, arg, timed.for_ms}};
        // Nobody notices a server that is behind or has forgotten unless he comes to it anew.
        if (timed.kind == FaultKind::kStaleStart)
          plan.push_back({FaultKind::kKill, at, replica, 0, kRestartMs});
        if (timed.kind == FaultKind::kCompact)
          plan.push_back({FaultKind::kBreakStreams, at, replica, 0, 0});
        add(std::move(plan));
      }
  }
  std::vector<Scenario> take() { return std::move(all_); }

 private:
  const Subject& subject_;
  std::uint64_t workload_;
  std::vector<Scenario> all_;
};

}  // namespace

std::vector<Scenario> single_faults(const Subject& subject, std::uint64_t workload,
                                    const RunResult& reference) {
  Plans plans(subject, workload);
  plans.at_writes(reference.writes, 0);
  plans.at_writes(reference.lease_writes, kAtLease);
  plans.at_requests(reference.requests);
  const std::int64_t end = std::min(reference.active_ms, kFaultsEndMs) + subject.grid_ms;
  for (const Timed& timed : timed_kinds())
    for (std::int64_t at = kFirstMs; at < end; at += subject.grid_ms) plans.at_times(timed, at);
  return plans.take();
}

std::map<std::string_view, std::size_t> by_kind(const std::vector<Scenario>& plans) {
  std::map<std::string_view, std::size_t> counts;
  for (const Scenario& one : plans) ++counts[name(one.plan.front().kind)];
  return counts;
}

}  // namespace amdahl::simulation
