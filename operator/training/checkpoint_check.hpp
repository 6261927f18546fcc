// Before an attempt asks for a GPU, what it will go on from is looked at. The store is the truth:
// what it holds replaces what ranks reported.
//
// Pure. A store that cannot be read from here keeps nobody waiting; one that holds only damaged
// checkpoints does, because training from the beginning would be a loss that nobody asked for.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "operator/training/attempts.hpp"
#include "operator/training/plan.hpp"

namespace amdahl::training {

// A store without a sound checkpoint is looked at again: somebody may mend it.
inline constexpr std::chrono::minutes kLookAgain{2};

// Older launchers reported /path, and statuses have it from them: file:///path.
std::string as_address(std::string place);

// Whether `part` is `whole`, or something below it. file:///path and /path are the same.
bool lies_below(std::string_view part, std::string_view whole);

// What the next attempt would go on from was written by our own engine, below the job's uri. What
// other trainers write has no manifest that could be read.
bool is_verifiable(const api::TrainingJobSpec& spec, const TrainingJobStatus& status);

// For an attempt that may begin, when nobody can commit any more. Adds to the plan what the check
// needs: a look, a status, words. True: no pod may be made now.
bool check_checkpoint(Plan& plan, const Situation& s);
// For one that has to wait for something else first: the look can begin meanwhile.
void begin_look(Plan& plan, const Situation& s);

// Of the status that is about to be written: what the look of its attempt found.
void take_look(TrainingJobStatus& next, const Situation& s);
// The condition CheckpointReady that goes with it.
api::Condition checkpoint_condition(const TrainingJobStatus& next, const Situation& s);

}  // namespace amdahl::training
