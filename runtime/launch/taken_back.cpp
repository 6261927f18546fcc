#include "runtime/launch/taken_back.hpp"

namespace amdahl::launch {
namespace {

bool by_signal(const Pause& pause) {
  return pause.way == ReportPauseWay::kUserSignal || pause.way == ReportPauseWay::kTerminate;
}

bool may_end_for(const Pause& pause) {
  return pause.heard || by_signal(pause);
}

struct Keeper {
  TakenBack kept;
  const Pause& asked;

  TakenBack operator()(const PauseTakenBack& taken) {
    const bool told = asked.way != ReportPauseWay::kNone || asked.heard;
    // A trainer that was told again and has not heard may still end for what it heard before.
    if (!told || (may_end_for(kept.pause) && !may_end_for(asked))) return kept;
    return {.pause = asked, .step = taken.step};
  }
  TakenBack operator()(const PauseTick& tick) {
    if (kept.pause.state == ReportPauseState::kNone) return kept;
    kept.pause = step(kept.pause, tick).next;
    const bool moved = tick.step && tick.step != kept.step;
    if (!moved) return kept;
    kept.step = tick.step;
    if (by_signal(kept.pause) && kept.pause.state == ReportPauseState::kRequested) return kept;
    return ++kept.looks < TakenBack::kLooksMin ? kept : TakenBack{};
  }
  TakenBack operator()(const PauseCommit& commit) {
    const bool again =
        kept.pause.state == ReportPauseState::kCommitted && kept.pause.step < commit.step;
    kept.pause = step(kept.pause, commit).next;
    if (!again) return kept;
    kept.pause.step = commit.step;
    if (kept.step) return kept;
    return ++kept.looks < TakenBack::kLooksMin ? kept : TakenBack{};
  }
  // Another pause.
  TakenBack operator()(const PauseAsked&) { return kept; }
  TakenBack operator()(const PauseWayFound&) { return kept; }
  // Heard, failed to save, ended: as if it had not been taken back.
  TakenBack operator()(const auto& input) {
    kept.pause = step(kept.pause, input).next;
    return kept;
  }
};

}  // namespace

TakenBack keep(TakenBack kept, const Pause& asked, const PauseInput& input) {
  return std::visit(Keeper{kept, asked}, input);
}

bool ended_for(const TakenBack& kept, const Pause& asked) {
  const bool known =
      asked.state == ReportPauseState::kSaving || asked.state == ReportPauseState::kCommitted;
  return !known && may_end_for(kept.pause);
}

}  // namespace amdahl::launch
