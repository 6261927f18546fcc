#include "runtime/launch/pause.hpp"

#include <algorithm>

namespace amdahl::launch {
namespace {

bool is_open(const Pause& pause) {
  return pause.state == ReportPauseState::kRequested || pause.state == ReportPauseState::kSaving;
}

PauseAction action_of(ReportPauseWay way) {
  switch (way) {
    case ReportPauseWay::kHelper:
      return PauseAction::kTellHelper;
    case ReportPauseWay::kUserSignal:
      return PauseAction::kUserSignal;
    case ReportPauseWay::kTerminate:
      return PauseAction::kTerminate;
    case ReportPauseWay::kNone:
      break;
  }
  return PauseAction::kNone;
}

struct Stepper {
  Pause pause;

  PauseStep operator()(const PauseAsked& asked) {
    // The operator repeats itself with every reply; asking again is not a new request.
    if (pause.state != ReportPauseState::kNone) return {pause};
    const bool hopeless = asked.way == ReportPauseWay::kNone && !asked.may_come;
    const Pause next{.state = hopeless ? ReportPauseState::kFailed : ReportPauseState::kRequested,
                     .way = asked.way,
                     .step_min = asked.last_step,
                     .deadline = asked.deadline};
    return {next, action_of(asked.way)};
  }
  PauseStep operator()(const PauseWayFound& found) {
    // Too late for the deadline, and still the only way to the checkpoint that is waited for.
    const bool wanted =
        pause.state != ReportPauseState::kNone && pause.state != ReportPauseState::kCommitted;
    if (!wanted || pause.way != ReportPauseWay::kNone) return {pause};
    pause.way = found.way;
    return {pause, action_of(found.way)};
  }
  PauseStep operator()(const PauseTakenBack&) {
    if (pause.state == ReportPauseState::kNone) return {pause};
    return {Pause{},
            pause.way == ReportPauseWay::kHelper ? PauseAction::kTakeBack : PauseAction::kNone};
  }
  PauseStep operator()(const PauseHeard& heard) {
    if (pause.state == ReportPauseState::kNone) return {pause};
    pause.heard = true;
    if (pause.state != ReportPauseState::kRequested) return {pause};
    pause.state = ReportPauseState::kSaving;
    pause.step_min = std::max(pause.step_min, heard.last_step);
    return {pause};
  }
  PauseStep operator()(const PauseCommit& commit) {
    // Too late is better than never: the steps are safe all the same.
    const bool counts = is_open(pause) || pause.state == ReportPauseState::kTimedOut ||
                        pause.state == ReportPauseState::kFailed;
    if (!counts || commit.step < pause.step_min.value_or(0)) return {pause};
    // A trainer that has not heard of the pause yet has made one of its usual checkpoints.
    const bool usual =
        pause.way == ReportPauseWay::kHelper && pause.state == ReportPauseState::kRequested;
    if (usual) return {pause};
    pause.state = ReportPauseState::kCommitted;
    pause.step = commit.step;
    return {pause};
  }
  PauseStep operator()(const PauseSaveFailed&) {
    pause.heard = false;  // it goes on
    if (is_open(pause)) pause.state = ReportPauseState::kFailed;
    return {pause};
  }
  PauseStep operator()(const PauseTrainerEnded& ended) {
    if (pause.state == ReportPauseState::kCommitted) return {pause};
    if (!is_open(pause) && !pause.heard) return {pause};
    if (ended.safe_step && *ended.safe_step >= pause.step_min.value_or(0)) {
      pause.state = ReportPauseState::kCommitted;
      pause.step = ended.safe_step;
      return {pause};
    }
    // It stopped for the pause, so its exit code does not say that its work is done.
    pause.state = pause.heard ? ReportPauseState::kSaving : ReportPauseState::kFailed;
    return {pause};
  }
  PauseStep operator()(const PauseTick& tick) {
    if (is_open(pause) && tick.now >= pause.deadline) pause.state = ReportPauseState::kTimedOut;
    return {pause};
  }
};

}  // namespace

PauseStep step(Pause pause, const PauseInput& input) {
  return std::visit(Stepper{pause}, input);
}

}  // namespace amdahl::launch
