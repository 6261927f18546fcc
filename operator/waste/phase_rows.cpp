#include "operator/waste/phase_rows.hpp"

#include <algorithm>

namespace amdahl::waste {

PerPhase<std::int64_t> from_rows(const std::vector<api::PhaseSeconds>& rows) {
  PerPhase<std::int64_t> phases;
  for (const api::PhaseSeconds& row : rows) {
    // A name of a newer operator keeps its seconds, if not its meaning.
    const Phase phase = parse_enum<Phase>(row.name).value_or(Phase::kUnattributed);
    phases[phase] += std::clamp<std::int64_t>(row.seconds, 0, api::kIntegerMax);
  }
  return phases;
}

std::vector<api::PhaseSeconds> to_rows(const PerPhase<std::int64_t>& phases) {
  std::vector<api::PhaseSeconds> rows;
  for (const auto& [phase, name] : enum_names(Phase{}))
    if (phases[phase] > 0) rows.push_back({.name = std::string(name), .seconds = phases[phase]});
  return rows;
}

}  // namespace amdahl::waste
