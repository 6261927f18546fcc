#include "runtime/launch/progress_lines.hpp"

#include <algorithm>
#include <array>

#include "runtime/launch/cut.hpp"
#include "runtime/launch/metric_text.hpp"
#include "runtime/launch/text_scan.hpp"

namespace amdahl::launch {
namespace {

using api::ReportPhase;
constexpr auto kNone = std::string_view::npos;

// The parts of "|a|b|c|" between the bars; at most kColumnsMax.
constexpr std::size_t kColumnsMax = 16;
struct Cells {
  std::array<std::string_view, kColumnsMax> text = {};
  int count = 0;
  std::string_view at(int index) const {
    return index >= 0 && index < count ? text[static_cast<std::size_t>(index)] : "";
  }
};
Cells split_cells(std::string_view line) {
  Cells cells;
  line.remove_prefix(1);
  while (!line.empty() && cells.count < static_cast<int>(kColumnsMax)) {
    const std::size_t end = std::min(line.find('|'), line.size());
    cells.text[static_cast<std::size_t>(cells.count++)] = trim(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return cells;
}

// "[default0]:" and "[rank0]: ", which torchrun and torch put before the lines of a process.
std::string_view without_rank(std::string_view line) {
  if (!line.starts_with("[default") && !line.starts_with("[rank")) return line;
  const std::size_t at = line.find("]:");
  if (at == kNone) return line;
  line.remove_prefix(at + 2);
  return line.starts_with(' ') ? line.substr(1) : line;
}

// Colours, moves of the cursor and backspaces, which say nothing.
bool has_escapes(std::string_view line) {
  return line.find_first_of("\x1b\b") != kNone;
}
std::string without_escapes(std::string_view line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\b') continue;
    if (line[i] != '\x1b') {
      plain += line[i];
      continue;
    }
    if (i + 1 < line.size() && line[i + 1] == '[') {
      i += 2;
      while (i < line.size() && (line[i] < '@' || line[i] > '~')) ++i;
    }
  }
  return plain;
}

}  // namespace

std::optional<LogFact> read_trainer_line(std::string_view line) {
  if (!line.starts_with("{'") || !line.contains("'epoch':")) return std::nullopt;
  MetricsSeen seen;
  constexpr int kPairsMax = 32;
  std::string_view rest = line.substr(1);
  for (int pair = 0; pair < kPairsMax && take(rest, "'"); ++pair) {
    const std::size_t key_end = rest.find("': ");
    if (key_end == kNone) break;
    const std::string_view key = rest.substr(0, key_end);
    rest.remove_prefix(key_end + 3);
    const bool quoted = take(rest, "'");
    const std::size_t value_end = std::min(rest.find_first_of(quoted ? "'" : ",}"), rest.size());
    add_metric(seen.metrics, key, rest.substr(0, value_end));
    const std::size_t next = rest.find(", '", value_end);
    if (next == kNone) break;
    rest.remove_prefix(next + 2);
  }
  if (seen.metrics.empty()) return std::nullopt;
  return seen;
}

std::optional<LogFact> read_deepspeed_line(std::string_view line) {
  const std::size_t at = line.find("] step=");
  if (at == kNone) return std::nullopt;
  std::string_view rest = line.substr(at + 7);
  const auto step = take_count(rest);
  if (!step || !take(rest, ", skipped=")) return std::nullopt;
  StepSeen seen{.step = *step};
  if (const std::size_t rate = rest.find("lr=["); rate != kNone) {
    rest.remove_prefix(rate + 4);
    add_metric(seen.metrics, "lr", rest.substr(0, std::min(rest.find_first_of(",]"), rest.size())));
  }
  return seen;
}

std::optional<LogFact> read_megatron_line(std::string_view line) {
  std::string_view rest = trim(line);
  if (rest.starts_with('[')) rest.remove_prefix(std::min(rest.find(']'), rest.size() - 1) + 1);
  skip_spaces(rest);
  if (!take(rest, "iteration ")) return std::nullopt;
  skip_spaces(rest);
  const auto step = take_count(rest);
  if (!step || !take(rest, "/")) return std::nullopt;
  skip_spaces(rest);
  const auto total = take_count(rest);
  skip_spaces(rest);
  if (!total || !rest.starts_with('|')) return std::nullopt;
  StepSeen seen{.step = *step, .total = *total};
  const Cells cells = split_cells(rest);
  for (int i = 0; i < cells.count; ++i) {
    const std::size_t colon = cells.at(i).rfind(": ");
    if (colon == kNone || cells.at(i).contains("consumed")) continue;
    add_metric(seen.metrics, cells.at(i).substr(0, colon), cells.at(i).substr(colon + 2));
  }
  return seen;
}

std::optional<LogFact> read_announcement(std::string_view line) {
  struct Row {
    std::string_view words;
    ReportPhase phase;
  };
  static constexpr std::array kRows = {
      Row{"***** Running training *****", ReportPhase::kTrain},
      Row{"***** Running Evaluation *****", ReportPhase::kEval},
      Row{"***** Running Prediction *****", ReportPhase::kEval},
      Row{"Saving model checkpoint to ", ReportPhase::kCheckpointSave},
      Row{"[Torch] Saving ", ReportPhase::kCheckpointSave},
      Row{"[Torch] Saved ", ReportPhase::kTrain},
      Row{"[Torch] Loading checkpoint from ", ReportPhase::kCheckpointRestore},
      Row{"[Torch] Loaded checkpoint from ", ReportPhase::kInit},
      Row{"Loading model from ", ReportPhase::kCheckpointRestore},
  };
  for (const Row& row : kRows)
    if (line.contains(row.words)) return PhaseSeen{row.phase};
  return std::nullopt;
}

// |  Tasks  |Version|Filter|n-shot| Metric |   |Value |   |Stderr|
// |hellaswag|      1|none  |     0|acc     |up |0.5123|+- |0.0050|
std::optional<LogFact> ProgressLines::read_table(std::string_view line) {
  const Cells cells = split_cells(line);
  if (cells.at(0) == "Tasks" || cells.at(0) == "Groups") {
    columns_ = Columns{.task = 0};
    for (int i = 1; i < cells.count; ++i) {
      if (cells.at(i) == "Metric") columns_->metric = i;
      if (cells.at(i) == "Value") columns_->value = i;
    }
    return std::nullopt;
  }
  if (!columns_ || cells.at(0).starts_with('-')) return std::nullopt;
  if (!cells.at(0).empty()) task_ = std::string(cut_utf8(cells.at(0), api::kReportMetricNameMax));
  MetricsSeen seen;
  add_metric(seen.metrics, task_ + "/" + std::string(cells.at(columns_->metric)),
             cells.at(columns_->value));
  if (seen.metrics.empty()) return std::nullopt;
  return seen;
}

std::optional<LogFact> ProgressLines::read_plain(std::string_view line) {
  if (line.starts_with('|')) return read_table(line);
  columns_.reset();
  if (line.starts_with("{'")) return read_trainer_line(line);
  if (auto bar = bars_.read(line)) return bar;
  if (auto step = read_deepspeed_line(line)) return step;
  if (line.contains("iteration "))
    if (auto step = read_megatron_line(line)) return step;
  if (auto phase = read_announcement(line)) return phase;
  return steps_.read(line);
}

std::optional<LogFact> ProgressLines::read(std::string_view line) {
  line = without_rank(line);
  return has_escapes(line) ? read_plain(without_escapes(line)) : read_plain(line);
}

}  // namespace amdahl::launch
