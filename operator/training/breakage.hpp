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

// A step may take long; no step for this long, and for so many usual steps, is a hang.
inline constexpr std::chrono::minutes kHangMin{15};
inline constexpr double kHangSteps = 20;
// What looks wrong but is not over is looked at again, because time alone may decide it.
inline constexpr std::chrono::seconds kSuspicionCheck{10};

struct Breakage {
  Diagnosis diagnosis = {};
  std::vector<std::string> missing = {};  // pods whose absence is the reason: read live first
};
std::optional<Breakage> find_breakage(const Situation& s);

// What is known of one rank, for the diagnosis and for who asks why it does not start.
PodEvidence rank_evidence(const Situation& s, std::uint32_t rank);

// When a gang that reports may have stood still for too long: no event comes of it. nullopt: none
// reports.
std::optional<std::chrono::nanoseconds> next_hang_check(const Situation& s);

// Something looks wrong, though nothing is over yet.
bool looks_wrong(const Situation& s);

}  // namespace amdahl::training
