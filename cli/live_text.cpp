#include "cli/live_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/text_layout.hpp"

namespace amdahl::cli {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

std::string LiveText::replace(std::string_view text, ScreenSize size) {
  const std::vector<std::string_view> lines = lines_of(text);
  const std::size_t rows_max = std::max<std::size_t>(size.rows, 3) - 1;  // the cursor has one
  const bool all = lines.size() <= rows_max;
  const std::size_t count = all ? lines.size() : rows_max - 1;
  std::string next;
  for (std::size_t i = 0; i < count; ++i) next += cut_to(lines[i], size.columns) + "\n";
  if (!all)
    next += cut_to(fmt::format("... {} more lines", lines.size() - count), size.columns) + "\n";
  if (next == shown_) return "";
  std::string bytes = lines_ == 0 ? "" : fmt::format("\x1b[{}A", lines_);
  bytes += "\x1b[J" + next;
  lines_ = all ? count : count + 1;
  shown_ = std::move(next);
  return bytes;
}

}  // namespace amdahl::cli
