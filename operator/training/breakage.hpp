// Whether the current attempt is over although nobody asked for it, and why. Pure.
//
// The diagnosis is asked only when something looks wrong, so a gang of a thousand healthy pods
// costs a glance at each.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "operator/training/diagnose/diagnose.hpp"
#include "operator/training/situation.hpp"

namespace amdahl::training {

// What looks wrong but is not over is looked at again, because time alone may decide it.
inline constexpr std::chrono::seconds kSuspicionCheck{10};

// While a rank saves, a gang may stand still this many times as long.
inline constexpr std::int64_t kSavePatience = 4;

// A leader that is new hears the ranks before it ends anything for what it has not seen itself:
// launchers whose operator was away for long report once in a minute. Less, where less than that
// is waited for.
inline constexpr std::chrono::seconds kHearingMax{60};
std::chrono::nanoseconds hearing_left(const Situation& s, std::chrono::nanoseconds waited_for);

struct Breakage {
  Diagnosis diagnosis = {};
  std::vector<std::string> missing = {};  // pods whose absence is the reason: read live first
};
std::optional<Breakage> find_breakage(const Situation& s);

// What is known of one rank, for the diagnosis and for explaining why it does not start.
PodEvidence rank_evidence(const Situation& s, std::uint32_t rank);

// Why the attempt is not further, whether or not that alone would end it.
std::optional<api::Cause> why_not_further(const Situation& s);

// How long no rank has printed anything; nullopt: no rank says.
std::optional<std::int64_t> quiet_seconds(const Situation& s);

// When a gang that reports may have stood still for too long: no event comes of it. nullopt: no
// rank reports steps.
std::optional<std::chrono::nanoseconds> next_hang_check(const Situation& s);

// Something looks wrong, though nothing is over yet.
bool looks_wrong(const Situation& s);

}  // namespace amdahl::training
