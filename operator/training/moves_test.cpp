#include "operator/training/moves.hpp"

#include <catch2/catch.hpp>
#include <set>

namespace amdahl::training {
namespace {

using api::Phase;

TEST_CASE("The table of moves has exactly one row for every phase and move") {
  std::set<std::pair<Phase, Move>> rows;
  for (const MoveRow& row : move_table()) {
    INFO(enum_name(row.from) << " " << name(row.move));
    CHECK(rows.emplace(row.from, row.move).second);
  }
  CHECK(rows.size() == enum_names(Phase{}).size() * kMoveCount);
}

TEST_CASE("No move leaves a terminal phase") {
  for (const Phase end : {Phase::kSucceeded, Phase::kFailed, Phase::kCancelled})
    for (std::size_t i = 0; i < kMoveCount; ++i) {
      const auto move = static_cast<Move>(i);
      INFO(enum_name(end) << " " << name(move));
      for (const auto& to : enum_names(Phase{}))
        CHECK(next_phases(end, move).contains(to.value) ==
              (move == Move::kObserve && to.value == end));
    }
}

TEST_CASE(
    "Every phase can be reached, and from every live one the job can be cancelled and paused") {
  std::set<Phase> reached;
  for (const MoveRow& row : move_table())
    for (const auto& to : enum_names(Phase{}))
      if (row.to.contains(to.value)) reached.insert(to.value);
  CHECK(reached.size() == enum_names(Phase{}).size() - 1);  // nothing leads to "no status yet"
  for (const Phase live : {Phase::kPending, Phase::kQueued, Phase::kStarting, Phase::kRunning,
                           Phase::kRestarting, Phase::kPausing}) {
    CHECK(next_phases(live, Move::kCancel).contains(Phase::kCancelled));
    CHECK(next_phases(live, Move::kEndAttempt).contains(Phase::kPausing));
  }
  CHECK(next_phases(Phase::kPaused, Move::kResume).contains(Phase::kPending));
}

}  // namespace
}  // namespace amdahl::training
