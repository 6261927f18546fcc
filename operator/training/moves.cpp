#include "operator/training/moves.hpp"

#include <algorithm>
#include <array>

namespace amdahl::training {
namespace {

using enum api::Phase;
using enum Move;

constexpr std::array kNames = std::to_array<std::string_view>(
    {"Submit", "Create", "Bind", "Start", "Complete", "Break", "GiveUp", "AskPause", "DropPause",
     "RefusePause", "EndAttempt", "Park", "Resume", "Cancel", "Observe"});
static_assert(kNames.size() == kMoveCount);

constexpr Phases kNever{};
constexpr Phases kLive{kPending, kQueued, kStarting, kRunning, kRestarting};

// One block a phase, one line a move.
constexpr std::size_t kPhaseCount = 11;
constexpr std::array<MoveRow, kPhaseCount * kMoveCount> kTable{{
    {kUnknown, kSubmit, {kPending, kQueued, kStarting, kRunning, kPausing, kPaused}},
    {kUnknown, kCreate, kNever},
    {kUnknown, kBind, kNever},
    {kUnknown, kStart, kNever},
    {kUnknown, kComplete, kNever},
    {kUnknown, kBreak, kNever},
    {kUnknown, kGiveUp, {kFailed}},
    {kUnknown, kAskPause, kNever},
    {kUnknown, kDropPause, kNever},
    {kUnknown, kRefusePause, kNever},
    {kUnknown, kEndAttempt, kNever},
    {kUnknown, kPark, kNever},
    {kUnknown, kResume, kNever},
    {kUnknown, kCancel, {kCancelled}},
    {kUnknown, kObserve, kNever},

    {kPending, kSubmit, kNever},
    {kPending, kCreate, {kQueued}},
    {kPending, kBind, {kStarting}},
    {kPending, kStart, {kRunning}},
    {kPending, kComplete, {kSucceeded}},
    {kPending, kBreak, {kRestarting}},
    {kPending, kGiveUp, {kFailed}},
    {kPending, kAskPause, {kPausing}},
    {kPending, kDropPause, kNever},
    {kPending, kRefusePause, kNever},
    {kPending, kEndAttempt, {kPausing, kPaused}},
    {kPending, kPark, kNever},
    {kPending, kResume, {kPending}},
    {kPending, kCancel, {kCancelled}},
    {kPending, kObserve, {kPending}},

    {kQueued, kSubmit, kNever},
    {kQueued, kCreate, {kQueued}},
    {kQueued, kBind, {kStarting}},
    {kQueued, kStart, {kRunning}},
    {kQueued, kComplete, {kSucceeded}},
    {kQueued, kBreak, {kRestarting}},
    {kQueued, kGiveUp, {kFailed}},
    {kQueued, kAskPause, {kPausing}},
    {kQueued, kDropPause, kNever},
    {kQueued, kRefusePause, kNever},
    {kQueued, kEndAttempt, {kPausing, kPaused}},
    {kQueued, kPark, kNever},
    {kQueued, kResume, {kPending}},
    {kQueued, kCancel, {kCancelled}},
    {kQueued, kObserve, {kQueued}},

    {kStarting, kSubmit, kNever},
    {kStarting, kCreate, kNever},
    {kStarting, kBind, kNever},
    {kStarting, kStart, {kRunning}},
    {kStarting, kComplete, {kSucceeded}},
    {kStarting, kBreak, {kRestarting}},
    {kStarting, kGiveUp, {kFailed}},
    {kStarting, kAskPause, {kPausing}},
    {kStarting, kDropPause, kNever},
    {kStarting, kRefusePause, kNever},
    {kStarting, kEndAttempt, {kPausing, kPaused}},
    {kStarting, kPark, kNever},
    {kStarting, kResume, {kPending}},
    {kStarting, kCancel, {kCancelled}},
    {kStarting, kObserve, {kStarting}},

    {kRunning, kSubmit, kNever},
    {kRunning, kCreate, kNever},
    {kRunning, kBind, kNever},
    {kRunning, kStart, kNever},
    {kRunning, kComplete, {kSucceeded}},
    {kRunning, kBreak, {kRestarting}},
    {kRunning, kGiveUp, {kFailed}},
    {kRunning, kAskPause, {kPausing}},
    {kRunning, kDropPause, kNever},
    {kRunning, kRefusePause, kNever},
    {kRunning, kEndAttempt, {kPausing, kPaused}},
    {kRunning, kPark, kNever},
    {kRunning, kResume, {kPending}},
    {kRunning, kCancel, {kCancelled}},
    {kRunning, kObserve, {kRunning}},

    {kRestarting, kSubmit, kNever},
    {kRestarting, kCreate, {kQueued}},
    {kRestarting, kBind, {kStarting}},
    {kRestarting, kStart, {kRunning}},
    {kRestarting, kComplete, {kSucceeded}},
    {kRestarting, kBreak, {kRestarting}},
    {kRestarting, kGiveUp, {kFailed}},
    {kRestarting, kAskPause, {kPausing}},
    {kRestarting, kDropPause, kNever},
    {kRestarting, kRefusePause, kNever},
    {kRestarting, kEndAttempt, {kPausing, kPaused}},
    {kRestarting, kPark, kNever},
    {kRestarting, kResume, {kPending}},
    {kRestarting, kCancel, {kCancelled}},
    {kRestarting, kObserve, {kRestarting}},

    {kPausing, kSubmit, kNever},
    {kPausing, kCreate, kNever},
    {kPausing, kBind, kNever},
    {kPausing, kStart, kNever},
    {kPausing, kComplete, {kSucceeded}},
    {kPausing, kBreak, {kRestarting}},
    {kPausing, kGiveUp, {kFailed}},
    {kPausing, kAskPause, kNever},
    {kPausing, kDropPause, kLive},
    {kPausing, kRefusePause, kLive},
    {kPausing, kEndAttempt, {kPausing, kPaused}},
    {kPausing, kPark, {kPaused}},
    {kPausing, kResume, {kPending}},
    {kPausing, kCancel, {kCancelled}},
    {kPausing, kObserve, {kPausing}},

    {kPaused, kSubmit, kNever},
    {kPaused, kCreate, kNever},
    {kPaused, kBind, kNever},
    {kPaused, kStart, kNever},
    {kPaused, kComplete, kNever},
    {kPaused, kBreak, kNever},
    {kPaused, kGiveUp, {kFailed}},
    {kPaused, kAskPause, kNever},
    {kPaused, kDropPause, kNever},
    {kPaused, kRefusePause, kNever},
    {kPaused, kEndAttempt, kNever},
    {kPaused, kPark, kNever},
    {kPaused, kResume, {kPending, kQueued, kStarting, kRunning}},
    {kPaused, kCancel, {kCancelled}},
    {kPaused, kObserve, {kPaused}},

    {kSucceeded, kSubmit, kNever},
    {kSucceeded, kCreate, kNever},
    {kSucceeded, kBind, kNever},
    {kSucceeded, kStart, kNever},
    {kSucceeded, kComplete, kNever},
    {kSucceeded, kBreak, kNever},
    {kSucceeded, kGiveUp, kNever},
    {kSucceeded, kAskPause, kNever},
    {kSucceeded, kDropPause, kNever},
    {kSucceeded, kRefusePause, kNever},
    {kSucceeded, kEndAttempt, kNever},
    {kSucceeded, kPark, kNever},
    {kSucceeded, kResume, kNever},
    {kSucceeded, kCancel, kNever},
    {kSucceeded, kObserve, {kSucceeded}},

    {kFailed, kSubmit, kNever},
    {kFailed, kCreate, kNever},
    {kFailed, kBind, kNever},
    {kFailed, kStart, kNever},
    {kFailed, kComplete, kNever},
    {kFailed, kBreak, kNever},
    {kFailed, kGiveUp, kNever},
    {kFailed, kAskPause, kNever},
    {kFailed, kDropPause, kNever},
    {kFailed, kRefusePause, kNever},
    {kFailed, kEndAttempt, kNever},
    {kFailed, kPark, kNever},
    {kFailed, kResume, kNever},
    {kFailed, kCancel, kNever},
    {kFailed, kObserve, {kFailed}},

    {kCancelled, kSubmit, kNever},
    {kCancelled, kCreate, kNever},
    {kCancelled, kBind, kNever},
    {kCancelled, kStart, kNever},
    {kCancelled, kComplete, kNever},
    {kCancelled, kBreak, kNever},
    {kCancelled, kGiveUp, kNever},
    {kCancelled, kAskPause, kNever},
    {kCancelled, kDropPause, kNever},
    {kCancelled, kRefusePause, kNever},
    {kCancelled, kEndAttempt, kNever},
    {kCancelled, kPark, kNever},
    {kCancelled, kResume, kNever},
    {kCancelled, kCancel, kNever},
    {kCancelled, kObserve, {kCancelled}},
}};

}  // namespace

std::string_view name(Move move) {
  return kNames.at(static_cast<std::size_t>(move));
}

std::span<const MoveRow> move_table() {
  return kTable;
}

Phases next_phases(api::Phase from, Move move) {
  const auto row = std::ranges::find_if(
      kTable, [&](const MoveRow& one) { return one.from == from && one.move == move; });
  return row == kTable.end() ? Phases{} : row->to;
}

}  // namespace amdahl::training
