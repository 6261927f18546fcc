// Plans of one fault, all of them: what can go wrong at each write, each request and each second
// of a run.
//
// The run that is disturbed is the reference itself, with its seed, so up to the fault both are the
// same and the n-th request is known to be there. Pure. Failure: none.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "tests/simulation/trial.hpp"

namespace amdahl::simulation {

std::vector<Scenario> single_faults(const Subject& subject, std::uint64_t workload,
                                    const RunResult& reference);

// How many of each kind.
std::map<std::string_view, std::size_t> by_kind(const std::vector<Scenario>& plans);

}  // namespace amdahl::simulation
