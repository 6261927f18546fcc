// What goes wrong in one run: a list of faults, drawn from a seed or read from a scenario file.
//
// A value; the text form is one line a fault and reads back to the same plan. Failure: parse()
// names the line it does not understand.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/rng.hpp"

namespace amdahl::simulation {

enum class FaultKind : std::uint8_t {
  // At the n-th write of the operator: `at` counts them, leases by themselves when `arg` is 1.
  kCrashBeforeSend,
  kCrashAfterSend,
  kCrashAfterReply,
  kFreezeAtWrite,  // SIGSTOP just before it leaves, for `for`
  // At the n-th request of the operator.
  kRefuse,       // `arg` is the status; 429 and 503 come with Retry-After
  kResetBefore,  // the connection breaks before the server has seen the request
  kResetAfter,   // ... after the server has done it
  kLoseReply,    // no answer comes at all
  // At a time, some for a while.
  kKill,          // of the process, restarted after `for`
  kFreeze,        // SIGSTOP for `for`
  kWallJump,      // `arg` seconds; replica 2 is the server
  kStaleStart,    // a replica of the server is `arg` versions behind until `for` is over
  kLag,           // events reach the replica `arg` ms late
  kReorder,       // those of every other kind do, so that what belongs together comes apart
  kBreakStreams,  // all watches of the replica break; what was on its way is lost
  kDeafStreams,   // nothing comes for `for`, then they break
  kDuplicate,     // every event comes twice
  kCoalesce,      // events wait for `arg` ms, and of several updates only the last one comes
  kCompact,       // the server forgets its history: 410
  kPagedLists,    // so the replica lists anew, in pages of two; and again while it turns them
  kSlowBinding,   // the scheduler takes `arg` ms longer
  kForeignEdit,  // somebody edits a child of the operator; `arg`: which one, 0 is drawn, also below
  kForeignDelete,
  kPodKill,    // a running pod fails
  kPodDelete,  // eviction
  kPreempt,    // a node is given to somebody else for `for`; its pods may end in peace
  kNodeLoss,   // a node goes with all its pods, and comes back after `for`
};
inline constexpr std::size_t kFaultKinds = static_cast<std::size_t>(FaultKind::kNodeLoss) + 1;
std::string_view name(FaultKind kind);
Result<FaultKind> fault_kind(std::string_view name);

struct Fault {
  FaultKind kind = FaultKind::kKill;
  std::int64_t at = 0;  // ms, or which write or request
  std::int32_t replica = 0;
  std::int64_t arg = 0;
  std::int64_t for_ms = 0;
  bool operator==(const Fault&) const = default;
};
using FaultPlan = std::vector<Fault>;

inline constexpr std::array<std::int64_t, 6> kRefusals = {401, 409, 429, 500, 503, 504};
inline constexpr std::int64_t kAtLease = 1;  // `arg` of a fault at a write of the lease

// All faults are over by then, and so is the script of the user.
inline constexpr std::int64_t kFaultsEndMs = 180'000;

struct PlanLimits {
  std::set<FaultKind> kinds = {};
  std::size_t faults_max = 6;
};
FaultPlan draw_plan(Rng& rng, const PlanLimits& limits);

bool has(const FaultPlan& plan, FaultKind kind);
// Faults after which objects come and go that would not have without them.
std::size_t disturbances(const FaultPlan& plan);

std::string to_text(const Fault& fault);
Result<Fault> parse_fault(std::string_view line);

}  // namespace amdahl::simulation
