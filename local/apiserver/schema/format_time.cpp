#include <array>
#include <cctype>
#include <limits>
#include <string>

#include "base/duration.hpp"
#include "local/apiserver/schema/format.hpp"

namespace amdahl::local {
namespace {

using std::chrono::nanoseconds;
constexpr std::int64_t kNanosMax = std::numeric_limits<std::int64_t>::max();

struct WordUnit {
  std::string_view name = {};
  std::string_view prefix = {};  // any word that starts like this means it as well
  std::int64_t nanos = 0;
};
constexpr std::array<WordUnit, 8> kWordUnits{{{"ns", "nano", 1},
                                              {"us", "micro", 1'000},
                                              {"ms", "milli", 1'000'000},
                                              {"s", "sec", 1'000'000'000},
                                              {"m", "min", 60'000'000'000},
                                              {"h", "hour", 3'600'000'000'000},
                                              {"d", "day", 86'400'000'000'000},
                                              {"w", "week", 604'800'000'000'000}}};

bool digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<std::int64_t> take_digits(std::string_view& text) {
  std::int64_t value = 0;
  while (!text.empty() && digit(text.front())) {
    const int next = text.front() - '0';
    if (value > (kNanosMax - next) / 10) return std::nullopt;
    value = value * 10 + next;
    text.remove_prefix(1);
  }
  return value;
}

std::optional<std::int64_t> word_nanos(std::string word, std::int64_t factor) {
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (word == "hr") word = "h";
  if (word == "wk") word = "w";
  for (const WordUnit& unit : kWordUnits) {
    if (word != unit.name && !word.starts_with(unit.prefix)) continue;
    if (factor > kNanosMax / unit.nanos) return std::nullopt;
    return factor * unit.nanos;
  }
  return std::nullopt;
}

std::optional<int> fixed(std::string_view text, std::size_t at, std::size_t count) {
  if (text.size() < at + count) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(at, count)) {
    if (!digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

// Takes ".123" from the front; false when the dot has no digits.
bool take_fraction(std::string_view& text, std::int32_t& nanos) {
  if (text.empty() || text.front() != '.') return true;
  text.remove_prefix(1);
  std::int32_t scale = 100'000'000;
  std::size_t bytes = 0;
  for (; bytes < text.size() && digit(text[bytes]); ++bytes, scale /= 10) {
    nanos += scale * (text[bytes] - '0');
  }
  text.remove_prefix(bytes);
  return bytes > 0;
}

// "Z", "+02:00": seconds east of UTC.
std::optional<int> zone(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return std::nullopt;
  const auto hours = fixed(text, 1, 2);
  const auto minutes = fixed(text, 4, 2);
  if (!hours || !minutes || *hours > 24 || *minutes > 59) return std::nullopt;
  const int seconds = *hours * 3600 + *minutes * 60;
  return text[0] == '-' ? -seconds : seconds;
}

}  // namespace

std::optional<nanoseconds> parse_duration(std::string_view text) {
  if (const auto plain = parse_go_duration(text)) return plain;
  std::int64_t total = 0;
  bool any = false;
  while (!text.empty()) {
    if (!digit(text.front())) {
      text.remove_prefix(1);
      continue;
    }
    const auto factor = take_digits(text);
    if (!factor) return std::nullopt;
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    std::string word;
    while (!text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0) {
      word.push_back(text.front());
      text.remove_prefix(1);
    }
    const auto nanos = word.empty() ? std::nullopt : word_nanos(word, *factor);
    if (!nanos || total > kNanosMax - *nanos) continue;
    any = true;
    total += *nanos;
  }
  return any ? std::optional(nanoseconds{total}) : std::nullopt;
}

std::optional<Instant> parse_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = fixed(text, 0, 4);
  const auto month = fixed(text, 5, 2);
  const auto day = fixed(text, 8, 2);
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  const auto days = std::chrono::sys_days{date}.time_since_epoch();
  return Instant{.seconds = std::chrono::duration_cast<std::chrono::seconds>(days).count()};
}

std::optional<Instant> parse_date_time(std::string_view text) {
  if (text.size() < 20 || (text[10] != 'T' && text[10] != 't')) return std::nullopt;
  auto instant = parse_date(text.substr(0, 10));
  const auto hours = fixed(text, 11, 2);
  const auto minutes = fixed(text, 14, 2);
  const auto seconds = fixed(text, 17, 2);
  if (!instant || !hours || !minutes || !seconds) return std::nullopt;
  if (text[13] != ':' || text[16] != ':') return std::nullopt;
  if (*hours > 23 || *minutes > 59 || *seconds > 59) return std::nullopt;
  std::string_view rest = text.substr(19);
  if (!take_fraction(rest, instant->nanos)) return std::nullopt;
  const auto east = zone(rest);
  if (!east) return std::nullopt;
  instant->seconds += *hours * 3600 + *minutes * 60 + *seconds - *east;
  return instant;
}

}  // namespace amdahl::local
