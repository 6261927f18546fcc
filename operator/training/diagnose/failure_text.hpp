// What a failing trainer prints about it: found by plain searches in a bounded text, not believed.
//
// Pure; one pass over at most kEvidenceTextMax bytes for each pattern; never throws. Whoever uses a
// finding remembers that any script can print these words. Failure: none; nothing found is a value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::training {

inline constexpr std::size_t kLineMax = 256;       // bytes that are kept of a line
inline constexpr std::size_t kTracebacksMax = 64;  // that are looked at in one text
inline constexpr std::size_t kFramesMax = 512;     // of one traceback

struct PythonError {
  std::string type = {};     // "KeyError", "torch.OutOfMemoryError"
  std::string message = {};  // the rest of its line
  // The last one of the script itself, "train.py:12 in main"; with only a library's, that one.
  std::string frame = {};

  std::string_view name() const;  // the type without its modules
};

struct CollectiveText {  // of NCCL's watchdog
  std::string operation = {};
  std::optional<std::int64_t> sequence = {};
  std::optional<std::int64_t> timeout_ms = {};
};

enum class Mark : std::uint8_t {
  kGpuOutOfMemory,
  kGpuHardware,
  kWorkerKilled,
  kNotANumber,
  kRendezvous,
  kConnection,
  kToldToStop,  // SIGTERM reached torchrun
  kNoScript,    // Python was given a file that does not exist
  kNoModule,    // python3 -m was given a module that does not exist
};
inline constexpr std::size_t kMarks = 9;

struct FailureText {
  std::optional<PythonError> error = {};
  std::optional<CollectiveText> collective = {};
  std::vector<std::int32_t> xids = {};
  std::optional<std::int32_t> child_signal = {};  // of a worker, as the launcher tells it
  std::array<std::string, kMarks> lines = {};     // the first line with each mark

  bool has(Mark mark) const { return !line(mark).empty(); }
  const std::string& line(Mark mark) const { return lines[static_cast<std::size_t>(mark)]; }
};

// Of a log or of a termination message; torchrun's error file is recognised.
FailureText scan_failure(std::string_view text);
// The first of the two that knows a thing has the word.
FailureText merge_failure(FailureText first, const FailureText& second);

// At most `bytes` of it, as one line of valid UTF-8: what is not becomes '?'.
std::string clean_line(std::string_view text, std::size_t bytes);

}  // namespace amdahl::training
