#include "runtime/launch/step_lines.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "runtime/launch/metric_text.hpp"
#include "runtime/launch/text_scan.hpp"

namespace amdahl::launch {
namespace {

constexpr auto kNone = std::string_view::npos;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || c == '_';
}

// Everything below reads text in lower case.

struct Count {
  std::int64_t value = 0;
  std::optional<std::int64_t> of = {};
};

// "40", "3/100", "3 / 100", "3 of 100"; not "0.5", "40ms" or "3/2".
std::optional<Count> take_counted(std::string_view& text) {
  std::string_view rest = text;
  const auto value = take_count(rest);
  if (!value) return std::nullopt;
  Count count{.value = *value};
  std::string_view after = rest;
  skip_spaces(after);
  if (take(after, "/") || take(after, "of ")) {
    skip_spaces(after);
    count.of = take_count(after);
    if (!count.of || *count.of < *value || *count.of == 0) return std::nullopt;
    rest = after;
  }
  const bool fraction = rest.size() > 1 && rest[0] == '.' && is_digit(rest[1]);
  if (fraction || (!rest.empty() && (is_word(rest[0]) || rest[0] == '%'))) return std::nullopt;
  text = rest;
  return count;
}

// What follows one of the words; `text` is then what follows the number.
std::optional<Count> find_count(std::string_view& text, std::string_view word) {
  for (std::size_t at = text.find(word); at != kNone; at = text.find(word, at + 1)) {
    // Not of "max_steps", "timestep" or "--step".
    if (at > 0 && (is_word(text[at - 1]) || text[at - 1] == '-')) continue;
    std::string_view rest = text.substr(at + word.size());
    constexpr std::size_t kBetweenMax = 4;
    const std::size_t gap = rest.find_first_not_of(" :=#[(\"'");
    if (gap == kNone || gap == 0 || gap > kBetweenMax) continue;
    rest.remove_prefix(gap);
    if (const auto count = take_counted(rest)) {
      text = rest;
      return count;
    }
  }
  return std::nullopt;
}

constexpr std::array<std::string_view, 4> kStepWords = {"step", "iteration", "iter", "batch"};

struct LineCounts {
  std::optional<Count> step = {};
  std::optional<Count> epoch = {};
  bool figures = false;  // nothing follows, or something with a number in it
};

bool has_figures(std::string_view rest) {
  return std::ranges::any_of(rest, is_digit) || std::ranges::none_of(rest, is_word);
}

LineCounts counts_in(std::string_view line) {
  LineCounts counts;
  for (const std::string_view word : kStepWords) {
    std::string_view text = line;
    counts.step = find_count(text, word);
    counts.figures = has_figures(text);
    if (counts.step) break;
  }
  std::string_view rest = line;
  counts.epoch = find_count(rest, "epoch");
  if (!counts.step) counts.figures = has_figures(rest);
  // "Epoch: [0][ 10/500]" and "Train Epoch: 1 [640/60000 (1%)]"
  if (counts.epoch && !counts.step) {
    const std::size_t gap = rest.find_first_not_of("] ,");
    if (gap != kNone && rest[gap] == '[') {
      rest.remove_prefix(gap + 1);
      skip_spaces(rest);
      const auto inner = take_counted(rest);
      if (inner && inner->of) counts.step = inner;
    }
  }
  return counts;
}

std::size_t number_end(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789.e+-naif"), text.size());
}

// "train loss" is called train_loss.
std::string loss_name(std::string_view line, std::size_t at, std::size_t end) {
  std::size_t begin = at;
  while (begin > 0 && (is_word(line[begin - 1]) || line[begin - 1] == '/')) --begin;
  std::string name(line.substr(begin, end - begin));
  if (name != "loss" || begin == 0 || line[begin - 1] != ' ') return name;
  std::string_view before = line.substr(0, begin - 1);
  for (const std::string_view word :
       {"train", "training", "val", "valid", "validation", "eval", "test", "lm"}) {
    if (!before.ends_with(word)) continue;
    const std::size_t start = before.size() - word.size();
    if (start == 0 || !is_word(before[start - 1])) return std::string(word) + "_loss";
  }
  return name;
}

// "train loss 2.1", "loss=0.5", "loss: nan"
std::vector<api::ReportMetric> read_losses(std::string_view line) {
  constexpr std::string_view kLoss = "loss";
  std::vector<api::ReportMetric> found;
  for (std::size_t at = line.find(kLoss); at != kNone && found.size() < StepLines::kLossesMax;
       at = line.find(kLoss, at + 1)) {
    const std::size_t end = at + kLoss.size();
    std::string_view rest = line.substr(end);
    const std::size_t gap = rest.find_first_not_of(" :=('\"");
    constexpr std::size_t kBetweenMax = 4;
    if (gap == kNone || gap == 0 || gap > kBetweenMax) continue;
    rest.remove_prefix(gap);
    std::string_view value = rest.substr(0, number_end(rest));
    if (value.ends_with('.')) value.remove_suffix(1);
    add_metric(found, loss_name(line, at, end), value);
  }
  return found;
}

}  // namespace

bool StepLines::believed(std::int64_t count, std::optional<std::int64_t> of) {
  const bool goes_on = bare_seen_ > 0 && of == bare_of_ && count >= bare_last_;
  if (!goes_on) bare_seen_ = 0;
  if (bare_seen_ == 0 || count > bare_last_) bare_seen_ = std::min(bare_seen_ + 1, kBareMin);
  bare_last_ = count;
  bare_of_ = of;
  return bare_seen_ >= kBareMin;
}

std::optional<LogFact> StepLines::read(std::string_view text) {
  text = text.substr(0, kLookMax);
  if (std::ranges::none_of(text, is_digit)) return std::nullopt;  // most lines of a flood
  std::array<char, kLookMax> lowered{};
  std::ranges::transform(text, lowered.begin(), lower);
  const std::string_view line(lowered.data(), text.size());
  const LineCounts counts = counts_in(line);
  auto losses = read_losses(line);
  const auto metrics_alone = [&]() -> std::optional<LogFact> {
    if (losses.empty()) return std::nullopt;
    return MetricsSeen{std::move(losses)};
  };
  const auto& counted = counts.step ? counts.step : counts.epoch;
  if (!counted) return metrics_alone();
  if (losses.empty() && !(counts.figures && believed(counted->value, counted->of)))
    return std::nullopt;
  if (!counts.step)
    return StepSeen{.step = counted->value,
                    .total = counted->of,
                    .metrics = std::move(losses),
                    .rank = StepRank::kEpoch};
  std::optional<EpochSeen> epoch;
  if (counts.epoch) {
    if (!epochs_from_) epochs_from_ = counts.epoch->value == 0 ? 0 : 1;
    const std::int64_t index = std::max<std::int64_t>(0, counts.epoch->value - *epochs_from_);
    epoch = EpochSeen{.index = index, .count = counts.epoch->of};
  }
  const StepCount::Sum sum = steps_.add(counts.step->value, counts.step->of, epoch);
  return StepSeen{
      .step = sum.step, .total = sum.total, .metrics = std::move(losses), .rank = StepRank::kLine};
}

}  // namespace amdahl::launch
