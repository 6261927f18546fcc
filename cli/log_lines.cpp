#include "cli/log_lines.hpp"

namespace amdahl::cli {

std::string LogLines::add(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::size_t room = kLogLineBytesMax - rest_.size();
    const std::size_t take = std::min(end == std::string_view::npos ? bytes.size() : end, room);
    rest_ += bytes.substr(0, take);
    bytes.remove_prefix(take);
    const bool whole = !bytes.empty() && bytes.front() == '\n';
    if (whole) bytes.remove_prefix(1);
    if (whole || rest_.size() == kLogLineBytesMax) {
      text += prefix_ + rest_ + "\n";
      rest_.clear();
    }
  }
  return text;
}

std::string LogLines::finish() {
  if (rest_.empty()) return "";
  std::string text = prefix_ + rest_ + "\n";
  rest_.clear();
  return text;
}

}  // namespace amdahl::cli
