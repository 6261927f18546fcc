// Steps of a whole run from counts that begin again with every epoch.
//
// A bar over the batches of an epoch goes from 0 to its total and starts over; a run has no such
// jumps. Pure. Thread: one. Failure: none; a count that falls without the sign of a new epoch comes
// from another rank that is behind, and is older news.
#pragma once

#include <cstdint>
#include <optional>

namespace amdahl::launch {

struct EpochSeen {
  std::int64_t index = 0;                  // from 0
  std::optional<std::int64_t> count = {};  // how many there will be
};

class StepCount {
 public:
  struct Sum {
    std::int64_t step = 0;
    std::optional<std::int64_t> total = {};
  };
  // `of`: what the count runs to.
  Sum add(std::int64_t count, std::optional<std::int64_t> of, std::optional<EpochSeen> epoch = {});

 private:
  std::int64_t before_ = 0;  // of epochs that are over
  std::int64_t last_ = 0;
  std::optional<std::int64_t> of_;
};

}  // namespace amdahl::launch
