// Failures from lines: Python tracebacks, torchrun's summary, NCCL's watchdog.
//
// A line that merely contains the words of a failure is none: an exception counts at the end of a
// traceback, a watchdog's line with its source file. Thread: one. Failure: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "operator/api/report.hpp"

namespace amdahl::launch {

class ErrorLines {
 public:
  static constexpr std::uint32_t kTracebackLinesMax = 2000;  // then it is none
  static constexpr std::uint32_t kSummaryLinesMax = 64;      // of a node with eight workers

  std::optional<api::ReportError> read(std::string_view line);
  void gap();

 private:
  std::optional<api::ReportError> read_traceback(std::string_view line);
  std::optional<api::ReportError> read_summary(std::string_view line);

  std::uint32_t traceback_left_ = 0;  // lines until we stop believing in the traceback
  std::string prefix_;                // "[rank3]: " of the traceback that we follow
  std::string where_;
  std::uint32_t summary_left_ = 0;
  std::optional<std::int64_t> summary_rank_;
  std::optional<std::int64_t> summary_signal_;
};

// "ValueError: no such thing" as it ends a traceback; nothing when the line is no such thing.
std::optional<api::ReportError> read_exception(std::string_view line);
// torchrun's error file: {"message": {"message": "ValueError: ...", "extraInfo": ...}}.
std::optional<api::ReportError> read_error_file(std::string_view text);

}  // namespace amdahl::launch
