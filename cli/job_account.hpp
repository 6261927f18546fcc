// What a TrainingJob holds and what came of it: GPUs, GPU-seconds by phase, the useful share; and
// the rows of `top`.
//
// Pure, any thread. Failure: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/fields.hpp"
#include "cli/training_jobs.hpp"

namespace amdahl::cli {

// GPUs of one pod: limits of resources that end in "/gpu", of any vendor.
std::int64_t pod_gpus(const api::TrainingJobSpec& spec);

struct PhaseShare {
  std::string name = {};
  std::int64_t seconds = 0;
  double share = 0;  // of what was held
};
// The largest first; phases with nothing in them are left out.
std::vector<PhaseShare> shares_of(const api::GpuSecondsStatus& account);
// Of what was held, the part that made steps which were kept; nullopt when nothing was held.
std::optional<double> useful_share(const api::GpuSecondsStatus& account);
std::string percent_text(std::optional<double> share);  // "82%", or "-"

struct TopRow {
  std::string ns = {};
  std::string name = {};
  std::string phase = {};
  std::int64_t gpus = 0;                // held now
  std::int64_t held_gpu_seconds = 0;    // since the first attempt
  std::int64_t wasted_gpu_seconds = 0;  // of them
  std::optional<double> useful = {};    // share
  std::string worst = {};               // the phase that wasted most
  std::optional<double> worst_share = {};
  std::optional<std::int64_t> step = {};
  std::optional<double> steps_per_second = {};
  std::optional<std::int64_t> silent_seconds = {};  // since the last step, when that is long
  std::string loss = {};                            // as the workload wrote it
};
template <class V>
constexpr void fields(V& v, TopRow& row) {
  v.required("namespace", row.ns);
  v.required("name", row.name);
  v.required("phase", row.phase);
  v.required("gpus", row.gpus);
  v.required("heldGpuSeconds", row.held_gpu_seconds);
  v.required("wastedGpuSeconds", row.wasted_gpu_seconds);
  v.optional("useful", row.useful);
  v.optional("worstPhase", row.worst);
  v.optional("worstShare", row.worst_share);
  v.optional("step", row.step);
  v.optional("stepsPerSecond", row.steps_per_second);
  v.optional("silentSeconds", row.silent_seconds);
  v.optional("loss", row.loss);
}

TopRow top_row(const TrainingJob& job, WallTime now);
// Those that hold GPUs or run, by what they wasted.
std::vector<TopRow> top_rows(const std::vector<TrainingJob>& jobs, WallTime now);
std::string top_text(const std::vector<TopRow>& rows, bool with_namespace);

}  // namespace amdahl::cli
