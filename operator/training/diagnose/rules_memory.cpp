// The rule on a container that was killed for its memory limit: the limit, the measured peak, the
// step.
#include <fmt/format.h>

#include <array>

#include "operator/kube/quantity.hpp"
#include "operator/training/diagnose/rules.hpp"

namespace amdahl::training::rules {
namespace {

std::string amount_text(std::int64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB"};
  double amount = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return fmt::format("{:.1f} {}", amount, kUnits.at(unit));
}

// The trainer's end, in words. The peak is the pod's own claim: a figure that no container with
// this limit can reach is left out, and one far below it was measured before the last growth.
std::string trainer_words(const PodEvidence& pod) {
  constexpr double kNear = 0.8;
  constexpr double kCredibleMax = 2;  // the memory of several processes is not read at one moment
  const auto limit = kube::Quantity::parse(pod.memory_limit);
  const double share =
      pod.report.memory_peak && limit && limit->value() > 0
          ? static_cast<double>(*pod.report.memory_peak) / static_cast<double>(limit->value())
          : 0;
  const bool credible = share > 0 && share <= kCredibleMax;
  const std::string peak = credible ? amount_text(*pod.report.memory_peak) : "";
  const std::string at = pod.report.step ? fmt::format(" at step {}", *pod.report.step) : "";
  if (credible && share >= kNear)
    return fmt::format("OOMKilled, it used {} of its memory limit of {}{}", peak, pod.memory_limit,
                       at);
  const std::string before =
      credible ? fmt::format("; it used {} when that was last measured", peak) : "";
  return fmt::format("OOMKilled, it went over its memory limit of {}{}{}", pod.memory_limit, at,
                     before);
}

}  // namespace

// The reason counts before the exit code, which may be 0 when only a child was killed. After a
// restart only the state before has it.
std::optional<Finding> container_out_of_memory(const PodFacts& facts) {
  if (facts.end == nullptr) return std::nullopt;
  const ContainerEvidence& container = *facts.container;
  for (const auto* const end : {&container.ended, &container.ended_before}) {
    if (!*end || (*end)->reason != "OOMKilled") continue;
    const std::string artifact = fmt::format("container {}", container.name);
    Finding finding{.cause_class = api::CauseClass::kContainerOutOfMemory,
                    .confidence = api::CauseConfidence::kConfirmed,
                    .message = told(artifact, "OOMKilled, it went over its memory limit"),
                    .at = (*end)->finished};
    const std::string& limit = facts.pod->memory_limit;
    if (limit.empty() || &container != &facts.pod->containers.front()) return finding;
    finding.message = told(artifact, trainer_words(*facts.pod));
    finding.hint = fmt::format(
        "Raise the container's memory limit above {}, or lower its need: a smaller batch, fewer "
        "data loader workers.",
        limit);
    return finding;
  }
  return std::nullopt;
}

}  // namespace amdahl::training::rules
