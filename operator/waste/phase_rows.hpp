// Phases as a status has them: rows with names, those without seconds left out.
#pragma once

#include <vector>

#include "operator/api/training_job_status.hpp"
#include "operator/waste/phases.hpp"

namespace amdahl::waste {

PerPhase<std::int64_t> from_rows(const std::vector<api::PhaseSeconds>& rows);
std::vector<api::PhaseSeconds> to_rows(const PerPhase<std::int64_t>& phases);

}  // namespace amdahl::waste
