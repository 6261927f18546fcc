#include "cli/job_account.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_member.hpp"
#include "cli/text_layout.hpp"
#include "operator/kube/quantity.hpp"

namespace amdahl::cli {
namespace {

constexpr std::string_view kProductive = "productive";
constexpr std::string_view kUnattributed = "unattributed";
constexpr std::string_view kLoss = "loss";
constexpr std::int64_t kContainerGpusMax = 1'000'000;  // so that sums stay far from overflow

std::int64_t amount_of(const Json& value) {
  std::int64_t amount = 0;
  if (value.is_number_integer()) amount = value.get<std::int64_t>();
  if (value.is_string())
    if (const auto quantity = kube::Quantity::parse(value.get_ref<const std::string&>()))
      amount = quantity->value();
  return std::clamp<std::int64_t>(amount, 0, kContainerGpusMax);
}

// Held for something else than steps that were kept. What nobody accounts for may have been either.
std::int64_t wasted_seconds(const api::GpuSecondsStatus& account) {
  std::int64_t wasted = account.held;
  for (const api::PhaseSeconds& phase : account.phases)
    if (phase.name == kProductive || phase.name == kUnattributed) wasted -= phase.seconds;
  return std::max<std::int64_t>(0, wasted);
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
  row.wasted_gpu_seconds = wasted_seconds(account);
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

// Unknown, as long as the useful share is.
std::optional<double> wasted_share(const TopRow& row) {
  if (!row.useful || row.held_gpu_seconds <= 0) return std::nullopt;
  return static_cast<double>(row.wasted_gpu_seconds) / static_cast<double>(row.held_gpu_seconds);
}

std::vector<std::string> cells_of(const TopRow& row) {
  return {row.name,
          row.phase,
          fmt::format("{}", row.gpus),
          short_count(static_cast<double>(row.held_gpu_seconds)),
          percent_text(row.useful),
          percent_text(wasted_share(row)),
          row.worst.empty() ? "-" : fmt::format("{} {}", row.worst, percent_text(row.worst_share)),
          row.step ? fmt::format("{}", *row.step) : "-",
          row.silent_seconds
              ? fmt::format("no step for {}", short_span(std::chrono::seconds{*row.silent_seconds}))
          : row.steps_per_second ? fmt::format("{:.3g}", *row.steps_per_second)
                                 : "-",
          or_dash(row.loss)};
}

}  // namespace

std::int64_t pod_gpus(const api::TrainingJobSpec& spec) {
  std::int64_t gpus = 0;
  each_at(spec.pod_template, "spec.containers[].resources.limits",
          [&](const Json& limits, const std::string&) {
            if (!limits.is_object()) return true;
            for (const auto& [name, value] : limits.items())
              if (name.ends_with("/gpu")) gpus += amount_of(value);
            return true;
          });
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
  return account.held > 0 ? account.goodput : std::nullopt;
}

std::string percent_text(std::optional<double> share) {
  return share ? fmt::format("{:.0f}%", *share * 100) : "-";
}

TopRow top_row(const TrainingJob& job, WallTime now) {
  const api::TrainingJobStatus& status = job.status;
  const bool finished = is_finished(phase_of(job).phase);
  TopRow row{.ns = job.metadata.ns,
             .name = job.metadata.name,
             .phase = std::string(enum_name(phase_of(job).phase)),
             .gpus = status.workers && !finished ? status.workers->bound * pod_gpus(job.spec) : 0};
  if (status.gpu_seconds) add_account(row, *status.gpu_seconds);
  if (!status.progress) return row;
  row.step = status.progress->step;
  const bool runs = phase_of(job).phase == api::Phase::kRunning;
  if (runs && is_silent(*status.progress, now))
    row.silent_seconds = std::chrono::duration_cast<std::chrono::seconds>(
                             now - status.progress->last_step_at.value_or(now))
                             .count();
  else if (status.progress->step_seconds.value_or(0) > 0)
    row.steps_per_second = 1 / *status.progress->step_seconds;
  row.loss = loss_of(*status.progress);
  return row;
}

std::vector<TopRow> top_rows(const std::vector<TrainingJob>& jobs, WallTime now) {
  std::vector<TopRow> rows;
  for (const TrainingJob& job : jobs) {
    const api::Phase phase = phase_of(job).phase;
    TopRow row = top_row(job, now);
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
