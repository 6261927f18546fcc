// What looks wrong with a gang that runs, shown before it lasts long enough to be acted upon. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "operator/training/situation.hpp"

namespace amdahl::training {

// Values of PendingStatus::reason.
namespace concern {
inline constexpr std::string_view kRanksLeft = "RanksLeftEarly";
inline constexpr std::string_view kNoStep = "NoStep";
}  // namespace concern

struct Concern {
  std::optional<api::PendingStatus> shown = {};
  // When time alone may change that; no event comes of it.
  std::optional<std::chrono::nanoseconds> look_again = {};
};
// Its words have no figure that grows: a status is written when something changed.
Concern concern_of(const Situation& s);

}  // namespace amdahl::training
