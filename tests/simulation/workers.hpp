// Many scenarios on all cores: one process each, because everything here belongs to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "tests/simulation/trial.hpp"

namespace amdahl::simulation {

struct Tally {
  std::uint64_t runs = 0;
  std::uint64_t virtual_ms = 0;
  double cpu_seconds = 0;
  double wall_seconds = 0;
  struct Failure {
    std::uint64_t seed = 0;
    std::uint64_t index = 0;
    std::string first = {};  // violation
  };
  std::vector<Failure> failures = {};  // in the order of index
};

// Plays scenario(0) to scenario(count - 1). Failure: a worker that dies is Errc::kIo.
Result<Tally> play_all(std::uint64_t count, unsigned jobs, std::int64_t silence_ms,
                       const std::function<Scenario(std::uint64_t)>& scenario);

}  // namespace amdahl::simulation
