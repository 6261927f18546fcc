// Cuts a stream into lines and puts a word before each: the logs of many ranks in one place.
//
// Pure. A line that is longer than kLogLineBytesMax is told in pieces. Failure: none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace amdahl::cli {

inline constexpr std::size_t kLogLineBytesMax = std::size_t{64} << 10;

class LogLines {
 public:
  explicit LogLines(std::string prefix) : prefix_(std::move(prefix)) {}
  // The lines that are whole now, each with prefix and newline.
  std::string add(std::string_view bytes);
  // What is left at the end of the stream.
  std::string finish();

 private:
  std::string prefix_;
  std::string rest_;
};

}  // namespace amdahl::cli
