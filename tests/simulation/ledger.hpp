// What was written, by whom: counts for the oracles, and the checks that need the very moment.
//
// Thread: one. Failure: what must not happen goes to violations().
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "local/apiserver/core/object_table.hpp"
#include "tests/simulation/trace.hpp"

namespace amdahl::simulation {

// Who did it. An operator's identity is that of one process start.
struct Actor {
  std::string name = {};
  bool is_operator = false;
};

struct ObjectCounts {
  std::uint32_t creates = 0;
  std::uint32_t operator_creates = 0;
  std::uint32_t deletes = 0;
  std::uint32_t operator_deletes = 0;
  // Children whose owner was gone already when they were made, and that were collected.
  std::uint32_t late_creates = 0;
  std::uint32_t stale_creates = 0;  // of these, so late that no packet can have been under way
  bool operator==(const ObjectCounts&) const = default;
};

class Ledger {
 public:
  explicit Ledger(Trace& trace) : trace_(trace) {}

  // From before the run.
  void there_already(std::string_view storage, const local::StoredObject& object);
  void note(const Actor& actor, std::span<const local::Mutation> mutations, Monotonic now);
  // From here on the operator has nothing to say any more.
  void demand_silence() { silent_ = true; }
  void attempted(const Actor& actor, std::string_view method, std::string_view target,
                 Monotonic now);

  const std::map<std::string, ObjectCounts>& counts() const { return counts_; }
  const std::vector<std::string>& violations() const { return violations_; }
  const std::string& lease_holder() const { return lease_holder_; }
  std::uint64_t writes() const { return writes_; }  // by the operator, without leases
  // When anything but a lease changed last.
  std::int64_t active_ms() const { return active_ms_; }

 private:
  void note_one(const Actor& actor, const local::Mutation& mutation, Monotonic now);
  void violated(std::string text);

  Trace& trace_;
  std::map<std::string, std::string> there_;  // "storage key" -> uid
  std::map<std::string, Monotonic> gone_;     // uid -> when
  std::set<std::string> precious_;            // ids of what the operator must not touch
  std::map<std::string, ObjectCounts> counts_;
  std::vector<std::string> violations_;
  std::string lease_holder_;
  std::uint64_t writes_ = 0;
  std::int64_t active_ms_ = 0;
  bool silent_ = false;
};

// Seconds of virtual time, for messages.
double seconds(Monotonic now);

}  // namespace amdahl::simulation
