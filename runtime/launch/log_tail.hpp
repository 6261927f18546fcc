// The end of what the trainer printed, on both streams in the order of arrival, line by line: a
// line that arrives in pieces is not torn apart by the other stream.
//
// Pure. Holds at most twice its size and two unfinished lines. Failure: none.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace amdahl::launch {

class LogTail {
 public:
  // How far a cut is moved on to the beginning of a line. Bars have lines of any length.
  static constexpr std::size_t kPartialLineBytesMax = 1024;

  enum class Stream : std::uint8_t { kOut, kErr };

  explicit LogTail(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  void add(Stream stream, std::string_view bytes) {
    std::string& line = unfinished_[static_cast<std::size_t>(stream)];
    const std::size_t whole = bytes.rfind('\n') + 1;  // 0: no line ends here
    if (whole > 0) {
      append(line);
      append(bytes.substr(0, whole));
      line.clear();
    }
    line.append(bytes.substr(whole));
    if (line.size() <= kPartialLineBytesMax) return;
    append(line);
    line.clear();
  }

  std::string text() const {
    LogTail all(*this);
    for (const std::string& line : unfinished_) all.append(line);
    return all.finished_text();
  }

 private:
  void append(std::string_view bytes) {
    all_ += bytes.size();
    bytes_.append(bytes.substr(bytes.size() - std::min(bytes.size(), bytes_max_)));
    // Rarely, because it moves all of it.
    if (bytes_.size() > 2 * bytes_max_) bytes_.erase(0, bytes_.size() - bytes_max_);
  }

  std::string finished_text() const {
    std::string_view end = bytes_;
    end.remove_prefix(end.size() - std::min(end.size(), bytes_max_));
    if (end.size() == all_) return std::string(end);
    const std::size_t line = end.substr(0, kPartialLineBytesMax).find('\n');
    if (line != end.npos) end.remove_prefix(line + 1);
    while (!end.empty() && (static_cast<unsigned char>(end[0]) & 0xC0U) == 0x80U)
      end.remove_prefix(1);  // the rest of a character
    return std::string(end);
  }

  std::size_t bytes_max_;
  std::string bytes_;
  std::size_t all_ = 0;                    // that came, unfinished lines aside
  std::array<std::string, 2> unfinished_;  // by stream
};

}  // namespace amdahl::launch
