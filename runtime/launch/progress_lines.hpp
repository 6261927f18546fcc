// Steps, metrics and phases from single lines: Hugging Face, DeepSpeed, Megatron, progress bars,
// lm-eval, and any line that looks like a step.
//
// docs/guides/trainers.md has the table of formats; testdata has samples of each program. Thread:
// one. Failure: none; a line that is not understood says nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/launch/log_facts.hpp"
#include "runtime/launch/progress_bars.hpp"
#include "runtime/launch/step_lines.hpp"

namespace amdahl::launch {

class ProgressLines {
 public:
  std::optional<LogFact> read(std::string_view line);

 private:
  std::optional<LogFact> read_plain(std::string_view line);
  std::optional<LogFact> read_table(std::string_view line);

  ProgressBars bars_;
  StepLines steps_;
  struct Columns {
    int task = -1;
    int metric = -1;
    int value = -1;
  };
  std::optional<Columns> columns_;  // of lm-eval's table, while we are in it
  std::string task_;                // rows of the same task leave it blank
};

// {'loss': 2.31, 'learning_rate': 5e-05, 'epoch': 0.01}: nothing when it has no epoch.
std::optional<LogFact> read_trainer_line(std::string_view line);
// "[Rank 0] step=10, skipped=0, lr=[0.001], mom=[0.9]"
std::optional<LogFact> read_deepspeed_line(std::string_view line);
// " iteration       10/     100 | ... | lm loss: 1.0E+01 | ..."
std::optional<LogFact> read_megatron_line(std::string_view line);
// "Saving model checkpoint to ...", "***** Running Evaluation *****", ...
std::optional<LogFact> read_announcement(std::string_view line);

}  // namespace amdahl::launch
