// What a line of a trainer's log tells about it, and steps that the hooks count. Values only.
//
// A log line is a claim: anybody can print anything. Nothing here decides about a job by itself.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "operator/api/report.hpp"

namespace amdahl::launch {

// How much a line is believed beside others that count something else: the highest one wins.
enum class StepRank : std::uint8_t {
  kEpoch,      // epochs, where nobody counts steps
  kHook,       // optimizers that stepped; lines are of the whole job, and may have a total
  kBar,        // a bar without a name
  kLine,       // "iter 40: loss 2.31" of a program that is not known
  kFramework,  // a line or a named bar of a framework that is known
};

struct StepSeen {
  std::int64_t step = 0;
  std::optional<std::int64_t> total = {};
  std::vector<api::ReportMetric> metrics = {};
  StepRank rank = StepRank::kFramework;
  api::ReportPhase phase = api::ReportPhase::kTrain;
  bool operator==(const StepSeen&) const = default;
};
struct MetricsSeen {
  std::vector<api::ReportMetric> metrics = {};
  bool operator==(const MetricsSeen&) const = default;
};
struct PhaseSeen {
  api::ReportPhase phase = api::ReportPhase::kUnattributed;
  bool operator==(const PhaseSeen&) const = default;
};
struct ErrorSeen {
  api::ReportError error = {};
  bool operator==(const ErrorSeen&) const = default;
};
using LogFact = std::variant<StepSeen, MetricsSeen, PhaseSeen, ErrorSeen>;

}  // namespace amdahl::launch
