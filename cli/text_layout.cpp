#include "cli/text_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace amdahl::cli {
namespace {

constexpr std::size_t kGap = 3;

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
}

bool is_control(unsigned char c) {
  return c < ' ' || c == 0x7f;
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::string cut_to(std::string_view text, std::size_t characters) {
  std::size_t seen = 0;
  for (std::size_t at = 0; at < text.size(); ++at)
    if (begins_character(text[at]) && seen++ == characters) return std::string(text.substr(0, at));
  return std::string(text);
}

std::string one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    // U+0080 to U+009F are controls too, and some terminals obey them.
    const bool high =
        c == 0xc2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xa0U;
    if (high) ++at;
    if (!high && !is_control(c))
      line += text[at];
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view kSpecial = " \t\n'\"\\$&;|<>(){}*?[]#~`!";
  if (!word.empty() && word.find_first_of(kSpecial) == word.npos) return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string short_span(std::chrono::seconds span) {
  struct Unit {
    std::int64_t seconds = 1;
    char name = 's';
  };
  static constexpr std::array<Unit, 4> kUnits = {
      {{86'400, 'd'}, {3'600, 'h'}, {60, 'm'}, {1, 's'}}};
  const std::int64_t total = std::max<std::int64_t>(0, span.count());
  if (total < 120) return fmt::format("{}s", total);
  for (std::size_t i = 0; i + 1 < kUnits.size(); ++i) {
    if (total < kUnits[i].seconds) continue;
    const std::int64_t rest = total % kUnits[i].seconds / kUnits[i + 1].seconds;
    std::string text = fmt::format("{}{}", total / kUnits[i].seconds, kUnits[i].name);
    return rest == 0 ? text : text + fmt::format("{}{}", rest, kUnits[i + 1].name);
  }
  return fmt::format("{}s", total);
}

std::string short_count(double value) {
  static constexpr std::array<std::string_view, 5> kNames = {"", "k", "M", "G", "T"};
  std::size_t name = 0;
  while (std::abs(value) >= 9'999.5 && name + 1 < kNames.size()) {
    value /= 1'000;
    ++name;
  }
  return name == 0 ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}{}", value, kNames[name]);
}

void Columns::add(std::vector<std::string> cells) {
  widths_.resize(std::max(widths_.size(), cells.size()));
  for (std::size_t i = 0; i < cells.size(); ++i)
    widths_[i] = std::max(widths_[i], width_of(cells[i]));
  rows_.push_back(std::move(cells));
}

std::string Columns::text() const {
  std::string text;
  for (const std::vector<std::string>& cells : rows_) {
    std::string line = indent_;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line += cells[i];
      if (i + 1 < cells.size()) line.append(widths_[i] + kGap - width_of(cells[i]), ' ');
    }
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
  }
  return text;
}

}  // namespace amdahl::cli
