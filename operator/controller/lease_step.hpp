// Leader election as a value: no socket, no clock. The driver (leader_election.hpp) sends what
// step() asks for and feeds back what the server said. Rules E1 and E4 live here.
//
// Time: a record is trusted for as long as it says, counted from the local monotonic moment at
// which a change of it was first seen. Timestamps inside the record are written for people and
// never read, so wall clocks may differ or jump; only clock *rates* must agree within lease/renew.
//
//   start -> read -> absent ----------------> create --+
//               `--> held by another: wait             +--> leading: renew ... renew -> lost
//               `--> released, or not renewed: take ---+
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace amdahl::controller {

struct LeaseTimings {
  std::chrono::milliseconds lease{15'000};  // how long others wait for a silent leader
  std::chrono::milliseconds renew{10'000};  // how long a leader trusts its last renewal
  std::chrono::milliseconds retry{2'000};   // between two tries
};
inline constexpr double kLeaseJitter = 1.2;
// A record may not lock everybody out for longer than this, whatever it says.
inline constexpr std::chrono::seconds kLeaseTrustedMax{600};

// lease > renew > 1.2 * retry > 0, and the lease is at least a second (E1).
Result<void> validate(const LeaseTimings& timings);

// What of a coordination.k8s.io/v1 Lease matters here.
struct LeaseRecord {
  std::string holder{};  // empty: released
  std::chrono::seconds duration{0};
  std::int64_t transitions = 0;  // the epoch of the holder's term (E3)
  std::string version{};
  bool operator==(const LeaseRecord&) const = default;
};

struct LeaseState {
  std::optional<LeaseRecord> seen{};  // as last read or written
  Monotonic changed_at{};             // when `seen` was first seen as it is
  bool present = false;               // false: the server said there is no such object
  bool fresh = false;                 // `seen` may be written over without reading again
  bool leading = false;
  Monotonic valid_until{};  // leading only: the fence (E2)
};

// What happened. `sent_at` is taken before the request leaves, so that time on the wire shortens
// our own trust and never lengthens it.
struct LeaseRead {
  LeaseRecord record{};
};
struct LeaseAbsent {};
struct LeaseWritten {
  LeaseRecord record{};
  Monotonic sent_at{};
};
struct LeaseConflict {};  // somebody else wrote first
struct LeaseFailed {};    // no answer, or one that says nothing
struct LeaseTick {};      // time passed
using LeaseInput =
    std::variant<LeaseRead, LeaseAbsent, LeaseWritten, LeaseConflict, LeaseFailed, LeaseTick>;

enum class LeaseAction : std::uint8_t {
  kRead,
  kCreate,  // write `record`; fails if the object exists
  kWrite,   // write `record` over `record.version`
  kWait,    // one retry period, then LeaseTick
  kLost,    // leading is over; nothing may be written any more
};

struct LeaseStep {
  LeaseState next{};
  LeaseAction action = LeaseAction::kWait;
  LeaseRecord record{};  // kCreate and kWrite
};

struct LeaseCandidate {
  std::string identity{};  // unique for each process start
  LeaseTimings timings{};
};

LeaseStep lease_step(const LeaseCandidate& who, LeaseState state, const LeaseInput& input,
                     Monotonic now);

// The record of a leader that goes of its own will: nobody waits longer than a second for it (E4).
LeaseRecord released(const LeaseRecord& held);

}  // namespace amdahl::controller
