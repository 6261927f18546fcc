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

struct Character {
  std::size_t bytes = 1;
  char32_t code = 0;
};

// The one at the front. A byte that begins none stands for itself.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const char32_t lead = byte(0);
  const std::size_t bytes = lead < 0xc0U ? 1 : lead < 0xe0U ? 2 : lead < 0xf0U ? 3 : 4;
  if (bytes == 1 || bytes > text.size()) return {.bytes = 1, .code = lead};
  char32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (begins_character(text[i])) return {.bytes = 1, .code = lead};
    code = (code << 6U) | (byte(i) & 0x3fU);
  }
  return {.bytes = bytes, .code = code};
}

bool is_control(char32_t code) {
  return code < U' ' || (code >= 0x7fU && code <= 0x9fU) || (code >= 0x202aU && code <= 0x202eU) ||
         (code >= 0x2066U && code <= 0x2069U);
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

std::string replace_controls(std::string_view text,
                             function_ref<std::string(char32_t control)> instead) {
  std::string replaced;
  replaced.reserve(text.size());
  while (!text.empty()) {
    const Character first = first_character(text);
    if (is_control(first.code))
      replaced += instead(first.code);
    else
      replaced += text.substr(0, first.bytes);
    text.remove_prefix(first.bytes);
  }
  return replaced;
}

std::string plain_text(std::string_view text) {
  return replace_controls(text, [](char32_t control) {
    return std::string(1, control == U'\n' || control == U'\t' ? static_cast<char>(control) : ' ');
  });
}

std::string one_line(std::string_view text) {
  // A mark that stands for any control, because spaces of the text itself stay.
  const std::string marked = replace_controls(text, [](char32_t) { return std::string(1, '\n'); });
  std::string line;
  line.reserve(marked.size());
  for (const char c : marked)
    if (c != '\n')
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
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
