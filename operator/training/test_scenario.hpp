// Scenario files: a behaviour as text. Blocks separated by "---", by turns what happens in the
// world and what is then decided. Each decision is played onto the world before the next block.
//
//   # A rank that was killed by the kernel takes the gang with it.
//   job nodes=2
//   upto Running
//   pod 1 Failed reason=OOMKilled exit=137
//   ---
//   policy restart
//   status phase=Restarting ...
//
// The words of the first kind of block are in test_scenario_words.cpp and
// test_scenario_reports.cpp, those of the second in test_plan_text.cpp. `make scenarios UPDATE=1`
// rewrites what is expected; read the diff.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "operator/training/test_world.hpp"

namespace amdahl::training {

// "word", "key=value" or "key=\"with spaces\"".
struct Word {
  std::string key = {};
  std::string value = {};
  bool has_value = false;
};
std::vector<Word> words_of(std::string_view line);

// One line of what happens. Failure: a word that is not known.
Result<void> happen(World& world, std::string_view line);

Result<void> report_word(World& world, const std::vector<Word>& words);
Result<void> store_word(World& world, const std::vector<Word>& words);

// What a plan says, and what it changes in the status of the job.
std::string plan_text(const Plan& plan, const api::TrainingJobStatus& before);

struct Played {
  std::string text = {};                 // the file as it would be written
  std::vector<std::string> faults = {};  // what must never happen
};
Result<Played> play_scenario(std::string_view text);

}  // namespace amdahl::training
