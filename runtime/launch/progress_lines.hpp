// Steps, metrics and phases from single lines: Hugging Face, DeepSpeed, Megatron, tqdm, lm-eval.
//
// Keeps only what tells a training bar from others, and the columns of a result table. Thread: one.
// Failure: none; a line that is not understood says nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/launch/log_facts.hpp"

namespace amdahl::launch {

class ProgressLines {
 public:
  std::optional<LogFact> read(std::string_view line);

 private:
  std::optional<LogFact> read_bar(std::string_view line);
  std::optional<LogFact> read_table(std::string_view line);

  std::int64_t train_total_ = 0;  // of the first bar without a name
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
