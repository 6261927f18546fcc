// The status as it shall be written: what a policy decided, completed by what follows from it.
//
// Pure. Decisions are the attempts, budgets, pause, cancel, elapsed time and terminal conditions;
// everything else (the other conditions, counters, progress, phase) is derived here, so no two
// policies can disagree about it. The result passes api::fit_status().
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "operator/training/attempts.hpp"
#include "operator/training/plan.hpp"

namespace amdahl::training {

// How often what moves by itself is written: counters of pods, and what ranks report.
inline constexpr std::chrono::seconds kCountsEvery{2};
inline constexpr std::chrono::seconds kProgressEvery{15};

// What the caller knows beyond the observation.
struct Shown {
  std::optional<api::PendingStatus> pending = {};
  bool in_queue = false;             // the gang waits for its nodes, or in its queue
  std::string admitted_reason = {};  // instead of the one that follows from the pods
};

TrainingJobStatus complete_status(const Situation& s, TrainingJobStatus next,
                                  const Shown& shown = {});

// A decision that must be on record before it is acted upon.
Plan write_ahead(const Situation& s, TrainingJobStatus next, Move move, const Shown& shown = {});

// Into the plan, if there is anything to say: at once what a user waits for, later what only moves.
void show(Plan& plan, const Situation& s, const Shown& shown = {});

}  // namespace amdahl::training
