// Why an attempt ended: one root cause from the evidence of all its pods, and what follows from it.
//
// Pure and total: no clock, no I/O, no log. The rules are a table (rules.hpp) in the order in which
// evidence counts: our own intent, what the platform says of the pod, of its containers, exit
// codes, then text, then the node. Text is what a script printed, so it never makes a cause
// Confirmed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "operator/api/training_job_cause.hpp"
#include "operator/training/diagnose/evidence.hpp"

namespace amdahl::training {

inline constexpr std::size_t kFindingsMax = 16;   // pods that a diagnosis names
inline constexpr std::size_t kAvoidNodesMax = 8;  // nodes of one diagnosis

enum class Advice : std::uint8_t {
  kCarryOn,           // nothing has ended, or it ended as it should
  kRestart,           // the gang, anywhere
  kRestartElsewhere,  // without the nodes of `avoid`
  kRestartOnce,       // and stop when it ends in the same way again (recurrence.hpp)
  kStop,              // trying again unchanged is pointless
};
constexpr auto enum_names(Advice) {
  return std::to_array<EnumName<Advice>>({{Advice::kCarryOn, "CarryOn"},
                                          {Advice::kRestart, "Restart"},
                                          {Advice::kRestartElsewhere, "RestartElsewhere"},
                                          {Advice::kRestartOnce, "RestartOnce"},
                                          {Advice::kStop, "Stop"}});
}

// Which budget a restart is taken from.
enum class Budget : std::uint8_t { kNone, kFailures, kDisruptions };
constexpr auto enum_names(Budget) {
  return std::to_array<EnumName<Budget>>({{Budget::kNone, "Nothing"},
                                          {Budget::kFailures, "Failures"},
                                          {Budget::kDisruptions, "Disruptions"}});
}

struct PodFinding {
  std::int32_t rank = 0;
  std::string pod = {};
  api::CauseClass cause_class = api::CauseClass::kUnknown;
  api::CauseRole role = api::CauseRole::kUnknown;
};

struct Diagnosis {
  std::optional<api::Cause> root = {};    // nothing: no trouble is known
  std::vector<PodFinding> findings = {};  // the root first, then by rank
  Advice advice = Advice::kCarryOn;
  Budget budget = Budget::kNone;
  std::vector<std::string> avoid = {};  // nodes
  std::optional<WallTime> at = {};      // when the root was first observed
  // Only ranks that lost a peer have ended, just now, and others run on: who was lost may be one of
  // those, and end in a moment.
  bool too_early = false;
};

Diagnosis diagnose(const AttemptEvidence& attempt);

}  // namespace amdahl::training
