// Reads one stream of a trainer's log for progress, phases and the first error.
//
// Knows the lines of Hugging Face's Trainer, DeepSpeed, Megatron, bars (tqdm, rich, Keras),
// lm-eval, lines that look like a step, Python tracebacks (with torchrun's rank prefixes),
// torchrun's summary and NCCL's watchdog. Bounded in memory and in time per byte; takes any bytes.
// Thread: one. Failure: none.
#pragma once

#include <string_view>

#include "base/function_ref.hpp"
#include "runtime/launch/error_lines.hpp"
#include "runtime/launch/line_splitter.hpp"
#include "runtime/launch/log_facts.hpp"
#include "runtime/launch/progress_lines.hpp"

namespace amdahl::launch {

class LogScanner {
 public:
  using Sink = function_ref<void(const LogFact&)>;

  void feed(std::string_view bytes, Sink sink);
  void gap();  // bytes were left out here
  // What comes next begins with a whole line, and repeats some that were seen.
  void again();
  void finish(Sink sink);  // the last line may have no end

 private:
  void read(std::string_view line, Sink sink);

  LineSplitter lines_;
  ProgressLines progress_;
  ErrorLines errors_;
};

}  // namespace amdahl::launch
