#include "cli/job_account.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/text_layout.hpp"
#include "operator/kube/quantity.hpp"

namespace amdahl::cli {
namespace {

constexpr std::string_view kProductive = "productive";
constexpr std::string_view kLoss = "loss";

std::int64_t amount_of(const Json& value) {
  if (value.is_number_integer()) return std::max<std::int64_t>(0, value.get<std::int64_t>());
  if (!value.is_string()) return 0;
  const auto quantity = kube::Quantity::parse(value.get<std::string>());
  return quantity ? std::max<std::int64_t>(0, quantity->value()) : 0;
}

std::int64_t productive_seconds(const api::GpuSecondsStatus& account) {
  for (const api::PhaseSeconds& phase : account.phases)
    if (phase.name == kProductive) return phase.seconds;
  return 0;
}

// "loss", or the first that has it in its name ("train_loss").
std::string loss_of(const api::ProgressStatus& progress) {
  for (const api::MetricStatus& metric : progress.metrics)
    if (metric.name == kLoss) return one_line(metric.value);
  for (const api::MetricStatus& metric : progress.metrics)
    if (metric.name.contains(kLoss)) return one_line(metric.value);
  return "";
}

void add_account(TopRow& row, const api::GpuSecondsStatus& account) {
  row.held_gpu_seconds = account.held;
  row.useful = useful_share(account);
  row.wasted_gpu_seconds = std::max<std::int64_t>(0, account.held - productive_seconds(account));
  for (const PhaseShare& share : shares_of(account)) {
    if (share.name == kProductive) continue;
    row.worst = share.name;
    row.worst_share = share.share;
    return;
  }
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::vector<std::string> cells_of(const TopRow& row) {
  return {row.name,
          row.phase,
          fmt::format("{}", row.gpus),
          short_count(static_cast<double>(row.held_gpu_seconds)),
          percent_text(row.useful),
          percent_text(row.useful ? std::optional(1 - *row.useful) : std::nullopt),
          row.worst.empty() ? "-" : fmt::format("{} {}", row.worst, percent_text(row.worst_share)),
          row.step ? fmt::format("{}", *row.step) : "-",
          row.steps_per_second ? fmt::format("{:.3g}", *row.steps_per_second) : "-",
          or_dash(row.loss)};
}

}  // namespace

std::int64_t pod_gpus(const api::TrainingJobSpec& spec) {
  static const Json::json_pointer containers_path("/spec/containers");
  static const Json::json_pointer limits_path("/resources/limits");
  const Json& pod = spec.pod_template;
  if (!pod.contains(containers_path) || !pod.at(containers_path).is_array()) return 0;
  std::int64_t gpus = 0;
  for (const Json& container : pod.at(containers_path)) {
    if (!container.is_object() || !container.contains(limits_path)) continue;
    const Json& limits = container.at(limits_path);
    if (!limits.is_object()) continue;
    for (const auto& [name, value] : limits.items())
      if (name.ends_with("/gpu")) gpus += amount_of(value);
  }
  return gpus;
}

std::vector<PhaseShare> shares_of(const api::GpuSecondsStatus& account) {
  std::vector<PhaseShare> shares;
  for (const api::PhaseSeconds& phase : account.phases)
    if (phase.seconds > 0 && account.held > 0)
      shares.push_back(
          {.name = one_line(phase.name),
           .seconds = phase.seconds,
           .share = static_cast<double>(phase.seconds) / static_cast<double>(account.held)});
  std::ranges::sort(shares, [](const PhaseShare& a, const PhaseShare& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.name < b.name;
  });
  return shares;
}

std::optional<double> useful_share(const api::GpuSecondsStatus& account) {
  if (account.held <= 0) return std::nullopt;
  if (account.goodput) return account.goodput;
  return static_cast<double>(productive_seconds(account)) / static_cast<double>(account.held);
}

std::string percent_text(std::optional<double> share) {
  return share ? fmt::format("{:.0f}%", *share * 100) : "-";
}

TopRow top_row(const TrainingJob& job) {
  const api::TrainingJobStatus& status = job.status;
  const bool finished = is_finished(phase_of(job).phase);
  TopRow row{.ns = job.metadata.ns,
             .name = job.metadata.name,
             .phase = std::string(enum_name(phase_of(job).phase)),
             .gpus = status.workers && !finished ? status.workers->bound * pod_gpus(job.spec) : 0};
  if (status.gpu_seconds) add_account(row, *status.gpu_seconds);
  if (!status.progress) return row;
  row.step = status.progress->step;
  if (status.progress->step_seconds.value_or(0) > 0)
    row.steps_per_second = 1 / *status.progress->step_seconds;
  row.loss = loss_of(*status.progress);
  return row;
}

std::vector<TopRow> top_rows(const std::vector<TrainingJob>& jobs) {
  std::vector<TopRow> rows;
  for (const TrainingJob& job : jobs) {
    const api::Phase phase = phase_of(job).phase;
    TopRow row = top_row(job);
    const bool runs = phase == api::Phase::kRunning || phase == api::Phase::kStarting ||
                      phase == api::Phase::kPausing || phase == api::Phase::kRestarting;
    if (runs || row.gpus > 0) rows.push_back(std::move(row));
  }
  std::ranges::sort(rows, [](const TopRow& a, const TopRow& b) {
    if (a.wasted_gpu_seconds != b.wasted_gpu_seconds)
      return a.wasted_gpu_seconds > b.wasted_gpu_seconds;
    return std::pair(a.ns, a.name) < std::pair(b.ns, b.name);
  });
  return rows;
}

std::string top_text(const std::vector<TopRow>& rows, bool with_namespace) {
  Columns table;
  std::vector<std::string> head = {"NAME",   "PHASE",  "GPUS", "GPU-SECONDS", "USEFUL",
                                   "WASTED", "MOSTLY", "STEP", "STEPS/S",     "LOSS"};
  if (with_namespace) head.insert(head.begin(), "NAMESPACE");
  table.add(std::move(head));
  for (const TopRow& row : rows) {
    std::vector<std::string> cells = cells_of(row);
    if (with_namespace) cells.insert(cells.begin(), row.ns);
    table.add(std::move(cells));
  }
  return table.text();
}

}  // namespace amdahl::cli
