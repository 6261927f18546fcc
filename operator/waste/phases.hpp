// What GPUs can be held for. Their names are those of status.gpuSeconds.phases and of the metrics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/fields.hpp"
#include "operator/api/bounds.hpp"

namespace amdahl::waste {

enum class Phase : std::uint8_t {
  kPendingHold,        // bound, while other pods of the gang are not
  kInit,               // image pull, init containers, start of the container
  kRendezvous,         // ranks look for each other
  kProductive,         // steps that were kept, or may still be
  kDataWait,           // the step waits for its input
  kCheckpointSave,     // training stands still for a checkpoint
  kCheckpointRestore,  // weights and state are loaded
  kLostWork,           // steps that have to be done again
  kRecovery,           // from a failure until the pod is released
  kStopping,           // asked to stop, or ended, and not yet released
  kIdle,               // reported as such
  kUnattributed,       // held, and nobody says for what
};
constexpr auto enum_names(Phase) {
  using enum Phase;
  return std::to_array<EnumName<Phase>>({{kPendingHold, "pending_hold"},
                                         {kInit, "init"},
                                         {kRendezvous, "rendezvous"},
                                         {kProductive, "productive"},
                                         {kDataWait, "data_wait"},
                                         {kCheckpointSave, "checkpoint_save"},
                                         {kCheckpointRestore, "checkpoint_restore"},
                                         {kLostWork, "lost_work"},
                                         {kRecovery, "recovery"},
                                         {kStopping, "stopping"},
                                         {kIdle, "idle"},
                                         {kUnattributed, "unattributed"}});
}
inline constexpr std::size_t kPhases = enum_names(Phase{}).size();
static_assert(kPhases <= api::kPhaseSecondsMax);

template <class T>
struct PerPhase {
  std::array<T, kPhases> values = {};

  T& operator[](Phase phase) { return values[static_cast<std::size_t>(phase)]; }
  const T& operator[](Phase phase) const { return values[static_cast<std::size_t>(phase)]; }
  T sum() const {
    T total = {};
    for (const T& value : values) total += value;
    return total;
  }
  PerPhase& operator+=(const PerPhase& other) {
    for (std::size_t i = 0; i < kPhases; ++i) values[i] += other.values[i];
    return *this;
  }
  bool operator==(const PerPhase&) const = default;
};

}  // namespace amdahl::waste
