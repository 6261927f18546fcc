// Which phase may follow which, and by what: the legal moves of a TrainingJob as one table.
//
// Pure. Nothing decides on a phase; the table is what tests hold every decision to, and what people
// read first. Every (phase, move) pair has a row; an empty set says that the move cannot happen
// there.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "operator/api/training_job_enums.hpp"

namespace amdahl::training {

enum class Move : std::uint8_t {
  kSubmit,     // the first status of a job
  kCreate,     // the gang exists, or waits in its queue
  kBind,       // all of it has nodes
  kStart,      // every rank runs
  kComplete,   // every rank ended well
  kBreak,      // the attempt is over, the next one begins
  kGiveUp,     // budgets, deadlines, or a spec that cannot work
  kAskPause,   // suspend was set, and there is something to save
  kDropPause,  // suspend was taken back before anything was decided
  kRefusePause,
  kEndAttempt,  // the outcome of the pause is recorded
  kPark,        // nothing of the job is left in the cluster
  kResume,
  kCancel,
  kObserve,  // counters, progress, reasons: no move at all
};
inline constexpr std::size_t kMoveCount = 15;
std::string_view name(Move move);

// A set of phases.
class Phases {
 public:
  constexpr Phases() = default;
  constexpr Phases(std::initializer_list<api::Phase> phases) {
    for (const api::Phase phase : phases) bits_ |= bit(phase);
  }
  constexpr bool contains(api::Phase phase) const { return (bits_ & bit(phase)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }

 private:
  static constexpr std::uint32_t bit(api::Phase phase) {
    return std::uint32_t{1} << static_cast<unsigned>(phase);
  }
  std::uint32_t bits_ = 0;
};

struct MoveRow {
  api::Phase from = api::Phase::kUnknown;  // Unknown: no status yet
  Move move = Move::kObserve;
  Phases to = {};
};
std::span<const MoveRow> move_table();

// Where a move may lead from a phase; empty: it cannot happen there.
Phases next_phases(api::Phase from, Move move);

}  // namespace amdahl::training
