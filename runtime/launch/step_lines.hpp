// Steps and losses from lines of programs that are not known: "iter 40: loss 2.31", "step 3/100".
//
// A word (step, iter, iteration, epoch) with a number after it, N or N/M. A line that has a loss
// too is believed at once; one without only when the same word has counted upwards three times,
// because "Step 2: unpacking" is no step of a training. Thread: one. Failure: none; any other line
// says nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/launch/log_facts.hpp"
#include "runtime/launch/step_count.hpp"

namespace amdahl::launch {

class StepLines {
 public:
  static constexpr std::size_t kLookMax = 512;  // bytes of a line
  static constexpr std::size_t kLossesMax = 3;
  static constexpr int kBareMin = 3;  // lines without a loss before they are believed

  std::optional<LogFact> read(std::string_view text);

 private:
  bool believed(std::int64_t count, std::optional<std::int64_t> of);

  StepCount steps_;
  std::optional<std::int64_t> epochs_from_;  // whether this program counts epochs from 0 or from 1
  std::int64_t bare_last_ = -1;
  std::optional<std::int64_t> bare_of_;
  int bare_seen_ = 0;
};

}  // namespace amdahl::launch
