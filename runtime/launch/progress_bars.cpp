#include "runtime/launch/progress_bars.hpp"

#include <algorithm>

#include "runtime/launch/cut.hpp"
#include "runtime/launch/metric_text.hpp"
#include "runtime/launch/text_scan.hpp"

namespace amdahl::launch {
namespace {

using api::ReportPhase;
constexpr auto kNone = std::string_view::npos;
constexpr std::string_view kRichBar = "\xe2\x94\x81";  // a heavy horizontal line

enum class BarKind : std::uint8_t {
  kUnnamed,
  kTrain,
  kEpochs,    // over epochs
  kEpoch,     // over the batches of one: "Epoch 3"
  kRequests,  // lm-eval's
  kEval,
  kRestore,
  kOther
};

bool begins_with_one_of(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return name.starts_with(word); });
}

BarKind bar_kind(std::string_view name) {
  if (name.empty()) return BarKind::kUnnamed;
  if (begins_with_one_of(name, {"Loading checkpoint shards", "Loading weights"}))
    return BarKind::kRestore;
  if (name == "Epoch" || name == "Epochs" || name == "epoch" || name == "epochs")
    return BarKind::kEpochs;
  if (begins_with_one_of(name, {"Epoch ", "epoch "})) return BarKind::kEpoch;
  if (name.contains("requests") && begins_with_one_of(name, {"Running ", "Requesting "}))
    return BarKind::kRequests;
  if (name == "Requesting API") return BarKind::kRequests;
  if (begins_with_one_of(name,
                         {"Train", "train", "Step", "step", "Iter", "iter", "Batch", "batch"}))
    return BarKind::kTrain;
  if (begins_with_one_of(name, {"Eval", "eval", "Valid", "valid", "Predict", "Test"}))
    return BarKind::kEval;
  return BarKind::kOther;
}

// "Epoch 3", "Epoch 3/9": Lightning counts from 0 and names the last one.
std::optional<EpochSeen> lightning_epoch(std::string_view name) {
  name.remove_prefix(std::string_view("Epoch ").size());
  const auto index = take_count(name);
  if (!index) return std::nullopt;
  EpochSeen epoch{.index = *index};
  if (take(name, "/"))
    if (const auto last = take_count(name)) epoch.count = *last + 1;
  return epoch;
}

// "[00:12<00:15,  3.51it/s, loss=1.2, v_num=0]", and rich's "... 9.91it/s v_num: 0.000 loss: 0.69".
std::vector<api::ReportMetric> metrics_after(std::string_view after) {
  std::vector<api::ReportMetric> metrics;
  const std::size_t rate = std::min({after.find("/s"), after.find("/it"), after.size()});
  std::size_t at = after.find_first_of("=:", rate);
  while (at != kNone) {
    const std::size_t name_at = after.substr(0, at).find_last_of(" ,[") + 1;
    std::string_view value = after.substr(at + 1);
    skip_spaces(value);
    value = value.substr(0, std::min(value.find_first_of(" ,]"), value.size()));
    const std::string_view name = after.substr(name_at, at - name_at);
    if (name != "v_num") add_metric(metrics, name, value);
    at = after.find_first_of("=:", at + 1);
  }
  return metrics;
}

// Bytes that are fetched are no steps.
bool counts_bytes(std::string_view after) {
  return after.contains("B/s");
}

}  // namespace

// "Name:  45%|####5     | 45/100 [00:12<00:15,  3.51it/s]"
std::optional<ProgressBars::Bar> ProgressBars::parse_tqdm(std::string_view line) {
  const std::size_t percent = line.find("%|");
  if (percent == kNone) return std::nullopt;
  std::string_view name = line.substr(0, percent);
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  if (name.size() == percent) return std::nullopt;  // no number before the sign
  name = trim(name);
  if (name.ends_with(':')) name.remove_suffix(1);
  std::string_view rest = line.substr(percent + 2);
  const std::size_t bar_end = rest.find('|');
  if (bar_end == kNone) return std::nullopt;
  rest.remove_prefix(bar_end + 1);
  skip_spaces(rest);
  const auto count = take_count(rest);
  if (!count || !take(rest, "/")) return std::nullopt;
  const auto of = take_count(rest);
  if (!of || *of == 0 || *count > *of || !take(rest, " [")) return std::nullopt;
  return Bar{.name = name, .count = *count, .of = *of, .after = rest};
}

// "Epoch 0/1  ---------- 12/20 0:00:01 * 0:00:01 9.91it/s v_num: 0.000"
std::optional<ProgressBars::Bar> ProgressBars::parse_rich(std::string_view line) {
  const std::size_t first = line.find(kRichBar);
  const std::size_t last = line.rfind(kRichBar);
  if (first == kNone || first == 0) return std::nullopt;
  std::string_view rest = line.substr(last + kRichBar.size());
  const std::size_t space = rest.find(' ');  // half a line may end the bar
  if (space == kNone) return std::nullopt;
  rest.remove_prefix(space);
  skip_spaces(rest);
  const auto count = take_count(rest);
  if (!count || !take(rest, "/")) return std::nullopt;
  const auto of = take_count(rest);
  if (!of || *of == 0 || *count > *of) return std::nullopt;
  const std::string_view name = trim(line.substr(0, first));
  if (name.empty()) return std::nullopt;
  return Bar{.name = name, .count = *count, .of = *of, .after = rest};
}

std::optional<LogFact> ProgressBars::read_unnamed(const Bar& bar) {
  if (lm_eval_ || counts_bytes(bar.after)) return std::nullopt;
  // Hugging Face's Trainer draws its evaluation as a second bar without a name, of another length.
  if (unnamed_of_ == 0) unnamed_of_ = bar.of;
  if (bar.of != unnamed_of_) return PhaseSeen{ReportPhase::kEval};
  const StepCount::Sum sum = unnamed_.add(bar.count, bar.of);
  return StepSeen{.step = sum.step,
                  .total = sum.total,
                  .metrics = metrics_after(bar.after),
                  .rank = StepRank::kBar};
}

// lm-eval has a bar for each kind of request, one after the other: they add up.
std::optional<LogFact> ProgressBars::read_requests(const Bar& bar) {
  lm_eval_ = true;
  const auto known = requests_.find(bar.name);
  if (known == requests_.end() && requests_.size() >= kRequestKindsMax) return std::nullopt;
  std::int64_t& done = known == requests_.end() ? requests_[std::string(bar.name)] : known->second;
  done = bar.count;
  StepSeen seen{.rank = StepRank::kFramework, .phase = ReportPhase::kEval};
  for (const auto& [name, count] : requests_)
    seen.step = std::min(seen.step + count, api::kReportIntegerMax);
  seen.total = std::min(seen.step - bar.count + bar.of, api::kReportIntegerMax);
  return seen;
}

std::optional<LogFact> ProgressBars::read_bar(const Bar& bar) {
  const auto step = [&](StepRank rank, const StepCount::Sum& sum) {
    return StepSeen{
        .step = sum.step, .total = sum.total, .metrics = metrics_after(bar.after), .rank = rank};
  };
  switch (bar_kind(bar.name)) {
    case BarKind::kUnnamed:
      return read_unnamed(bar);
    case BarKind::kTrain:
      return step(StepRank::kFramework, named_.add(bar.count, bar.of));
    case BarKind::kEpochs:
      return step(StepRank::kEpoch, {.step = bar.count, .total = bar.of});
    case BarKind::kEpoch:
      return step(StepRank::kFramework, named_.add(bar.count, bar.of, lightning_epoch(bar.name)));
    case BarKind::kRequests:
      return read_requests(bar);
    case BarKind::kEval:
      return PhaseSeen{ReportPhase::kEval};
    case BarKind::kRestore:
      return PhaseSeen{bar.count < bar.of ? ReportPhase::kCheckpointRestore : ReportPhase::kInit};
    case BarKind::kOther:
      break;
  }
  return std::nullopt;
}

// "Epoch 1/5", then " 10/32 [===>...] - ETA: 1s - loss: 0.5" (Keras 2) or
// " 10/32 ------ 1s 50ms/step - accuracy: 0.5 - loss: 0.9" (Keras 3).
std::optional<LogFact> ProgressBars::read_keras(std::string_view line) {
  std::string_view rest = trim(line);
  if (take(rest, "Epoch ")) {
    const auto epoch = take_count(rest);
    if (!epoch || *epoch == 0 || !take(rest, "/")) return std::nullopt;
    const auto count = take_count(rest);
    if (count && rest.empty()) keras_epoch_ = EpochSeen{.index = *epoch - 1, .count = *count};
    return std::nullopt;
  }
  const auto count = take_count(rest);
  if (!count || !take(rest, "/")) return std::nullopt;
  const auto of = take_count(rest);
  if (!of || *of == 0 || *count > *of || !take(rest, " ")) return std::nullopt;
  if (!begins_with_one_of(rest, {"[=", "[>", "[.", kRichBar})) return std::nullopt;
  if (keras_epoch_ && keras_of_ == 0) keras_of_ = *of;
  if (!keras_epoch_ || *of != keras_of_) return PhaseSeen{ReportPhase::kEval};
  StepSeen seen{.rank = StepRank::kFramework};
  for (std::size_t at = rest.find(" - "); at != kNone; at = rest.find(" - ", at)) {
    at += 3;
    const std::string_view pair = rest.substr(at, std::min(rest.find(" - ", at), rest.size()) - at);
    if (const std::size_t colon = pair.find(": "); colon != kNone)
      add_metric(seen.metrics, pair.substr(0, colon), pair.substr(colon + 2));
  }
  const StepCount::Sum sum = named_.add(*count, *of, keras_epoch_);
  seen.step = sum.step;
  seen.total = sum.total;
  return seen;
}

std::optional<LogFact> ProgressBars::read(std::string_view line) {
  if (line.contains("Building contexts for ")) lm_eval_ = true;
  if (const auto bar = parse_tqdm(line)) return read_bar(*bar);
  if (auto keras = read_keras(line)) return keras;
  if (const auto bar = parse_rich(line)) return read_bar(*bar);
  return std::nullopt;
}

}  // namespace amdahl::launch
