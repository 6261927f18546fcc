// A pause as a value: who was asked, how, and how far it has come. No clock, no socket.
//
//   None -> Requested -> Saving -> Committed
//                   \-> Failed (cannot be asked, could not save, ended and had not heard) or
//                   TimedOut
//
// A trainer that heard and ends without a checkpoint leaves Saving: it stopped for the pause.
// A checkpoint counts when its step is no older than the last step that was known at the request,
// and when the trainer said that it heard: one that was under way before may hold less, and steps
// would be lost unseen. Once Committed it stays so until it is taken back; what the trainer does
// for it all the same is taken_back.hpp's. Failure: none; an input that does not fit changes
// nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "base/clock.hpp"
#include "operator/api/report_enums.hpp"

namespace amdahl::launch {

// What a trainer exits with that ends for a pause, so that nothing that follows it takes its model
// for finished. Once the checkpoint is committed the launcher ends with 0. Same as EXIT_PAUSED of
// the Python package.
inline constexpr int kPausedExitCode = 85;

// What the launcher exits with when SIGTERM came from outside and the trainer saved and exited with
// 0, with steps left to make: as if the signal had ended it.
inline constexpr int kCutShortExitCode = 143;

using api::ReportPauseState;
using api::ReportPauseWay;

struct PauseAsked {
  ReportPauseWay way = ReportPauseWay::kNone;
  bool may_come = false;  // without a way: there may be one soon, and the pause waits for it
  std::optional<std::int64_t> last_step = {};
  Monotonic deadline = {};
};
struct PauseWayFound {
  ReportPauseWay way = ReportPauseWay::kNone;
};
struct PauseTakenBack {
  std::optional<std::int64_t> step = {};  // the last that was made
};
struct PauseHeard {
  std::optional<std::int64_t> last_step = {};
};
struct PauseCommit {
  std::int64_t step = 0;
};
struct PauseSaveFailed {};
struct PauseTrainerEnded {
  // It ended well, or with kPausedExitCode, and its last step is in a checkpoint: another node may
  // have told it to stop.
  std::optional<std::int64_t> safe_step = {};
};
struct PauseTick {
  Monotonic now = {};
  std::optional<std::int64_t> step = {};  // the last that was made
};
using PauseInput = std::variant<PauseAsked, PauseWayFound, PauseTakenBack, PauseHeard, PauseCommit,
                                PauseSaveFailed, PauseTrainerEnded, PauseTick>;

struct Pause {
  ReportPauseState state = ReportPauseState::kNone;
  ReportPauseWay way = ReportPauseWay::kNone;
  std::optional<std::int64_t> step = {};      // that was saved
  std::optional<std::int64_t> step_min = {};  // that counts
  Monotonic deadline = {};
  bool heard = false;  // the trainer stops for it, unless its save fails and it goes on
  bool operator==(const Pause&) const = default;
};

enum class PauseAction : std::uint8_t { kNone, kTellHelper, kUserSignal, kTerminate, kTakeBack };
struct PauseStep {
  Pause next = {};
  PauseAction action = PauseAction::kNone;
};

PauseStep step(Pause pause, const PauseInput& input);

// Which way there is, best first. `term` means that somebody who saves would see SIGTERM.
struct PauseWays {
  bool helper = false;
  bool user_signal = false;
  bool term = false;
};
constexpr ReportPauseWay best_way(const PauseWays& ways) {
  if (ways.helper) return ReportPauseWay::kHelper;
  if (ways.user_signal) return ReportPauseWay::kUserSignal;
  return ways.term ? ReportPauseWay::kTerminate : ReportPauseWay::kNone;
}

}  // namespace amdahl::launch
