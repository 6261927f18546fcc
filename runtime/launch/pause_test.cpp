#include "runtime/launch/pause.hpp"

#include <catch2/catch.hpp>

#include "runtime/launch/grace.hpp"

using namespace amdahl;
using namespace amdahl::launch;
using namespace std::chrono_literals;
using State = ReportPauseState;
using Way = ReportPauseWay;
using Action = PauseAction;

namespace {

Pause in(State state, Way way = Way::kHelper) {
  return {.state = state,
          .way = way,
          .step_min = 100,
          .deadline = Monotonic{} + 60s,
          .heard = state == State::kSaving};
}

}  // namespace

TEST_CASE("Pause asks in the best way there is") {
  struct Row {
    PauseWays ways;
    State state;
    Action action;
  };
  const std::vector<Row> rows = {
      {{.helper = true, .user_signal = true, .term = true}, State::kRequested, Action::kTellHelper},
      {{.user_signal = true, .term = true}, State::kRequested, Action::kUserSignal},
      {{.term = true}, State::kRequested, Action::kTerminate},
      {{}, State::kFailed, Action::kNone},
  };
  for (const Row& row : rows) {
    const auto [next, action] =
        step({}, PauseAsked{.way = best_way(row.ways), .deadline = Monotonic{} + 1s});
    CHECK(next.state == row.state);
    CHECK(action == row.action);
  }
}

TEST_CASE("Pause by a signal takes the next checkpoint, because nobody says that he heard") {
  CHECK(step(in(State::kRequested, Way::kUserSignal), PauseCommit{.step = 100}).next.state ==
        State::kCommitted);
  CHECK(step(in(State::kRequested, Way::kHelper), PauseCommit{.step = 100}).next.state ==
        State::kRequested);
}

TEST_CASE("Pause takes no usual checkpoint that was made between request and hearing", "[D2]") {
  const Pause heard = step(in(State::kRequested), PauseHeard{.last_step = 102}).next;
  CHECK(step(heard, PauseCommit{.step = 101}).next.state == State::kSaving);
  CHECK(step(heard, PauseCommit{.step = 102}).next.state == State::kCommitted);
}

TEST_CASE("Pause has a row for every state and input") {
  struct Row {
    State from;
    PauseInput input;
    State to;
    Action action = Action::kNone;
  };
  const PauseInput asked = PauseAsked{.way = Way::kHelper, .deadline = Monotonic{} + 60s};
  const PauseInput old = PauseCommit{.step = 99};
  const PauseInput commit = PauseCommit{.step = 100};
  const PauseInput early = PauseTick{.now = Monotonic{} + 59s};
  const PauseInput late = PauseTick{.now = Monotonic{} + 60s};
  const std::vector<Row> rows = {
      {State::kNone, asked, State::kRequested, Action::kTellHelper},
      {State::kNone, PauseTakenBack{}, State::kNone},
      {State::kNone, PauseHeard{}, State::kNone},
      {State::kNone, commit, State::kNone},
      {State::kNone, PauseSaveFailed{}, State::kNone},
      {State::kNone, PauseTrainerEnded{}, State::kNone},
      {State::kNone, late, State::kNone},
      {State::kRequested, asked, State::kRequested},
      {State::kRequested, PauseTakenBack{}, State::kNone, Action::kTakeBack},
      {State::kRequested, PauseHeard{}, State::kSaving},
      {State::kRequested, old, State::kRequested},
      {State::kRequested, commit, State::kRequested},
      {State::kRequested, PauseSaveFailed{}, State::kFailed},
      {State::kRequested, PauseTrainerEnded{}, State::kFailed},
      {State::kRequested, PauseTrainerEnded{.safe_step = 100}, State::kCommitted},
      {State::kRequested, PauseTrainerEnded{.safe_step = 99}, State::kFailed},
      {State::kRequested, early, State::kRequested},
      {State::kRequested, late, State::kTimedOut},
      {State::kSaving, asked, State::kSaving},
      {State::kSaving, PauseTakenBack{}, State::kNone, Action::kTakeBack},
      {State::kSaving, PauseHeard{}, State::kSaving},
      {State::kSaving, old, State::kSaving},
      {State::kSaving, commit, State::kCommitted},
      {State::kSaving, PauseSaveFailed{}, State::kFailed},
      {State::kSaving, PauseTrainerEnded{}, State::kSaving},
      {State::kSaving, PauseTrainerEnded{.safe_step = 99}, State::kSaving},
      {State::kSaving, PauseTrainerEnded{.safe_step = 100}, State::kCommitted},
      {State::kSaving, late, State::kTimedOut},
      {State::kCommitted, asked, State::kCommitted},
      {State::kCommitted, PauseTakenBack{}, State::kNone, Action::kTakeBack},
      {State::kCommitted, PauseHeard{}, State::kCommitted},
      {State::kCommitted, commit, State::kCommitted},
      {State::kCommitted, PauseSaveFailed{}, State::kCommitted},
      {State::kCommitted, PauseTrainerEnded{}, State::kCommitted},
      {State::kCommitted, late, State::kCommitted},
      {State::kFailed, asked, State::kFailed},
      {State::kFailed, PauseTakenBack{}, State::kNone, Action::kTakeBack},
      {State::kFailed, PauseHeard{}, State::kFailed},
      {State::kFailed, commit, State::kCommitted},
      {State::kFailed, PauseTrainerEnded{}, State::kFailed},
      {State::kFailed, late, State::kFailed},
      {State::kTimedOut, asked, State::kTimedOut},
      {State::kTimedOut, PauseTakenBack{}, State::kNone, Action::kTakeBack},
      {State::kTimedOut, PauseHeard{}, State::kTimedOut},
      {State::kTimedOut, old, State::kTimedOut},
      {State::kTimedOut, commit, State::kCommitted},
      {State::kTimedOut, PauseTrainerEnded{}, State::kTimedOut},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO("row " << i);
    const auto [next, action] = step(in(rows[i].from), rows[i].input);
    CHECK(next.state == rows[i].to);
    CHECK(action == rows[i].action);
  }
}

TEST_CASE("Pause that a trainer stopped for is told from one that it never heard", "[D2]") {
  const PauseTrainerEnded ended{};
  const Pause heard = step(in(State::kRequested), PauseHeard{.last_step = 102}).next;
  const Pause late = step(heard, PauseTick{.now = Monotonic{} + 60s}).next;
  REQUIRE(late.state == State::kTimedOut);
  CHECK(step(late, ended).next.state == State::kSaving);
  CHECK(step(late, PauseTrainerEnded{.safe_step = 102}).next.state == State::kCommitted);
  const Pause told_late = step(in(State::kTimedOut), PauseHeard{}).next;
  CHECK(told_late.state == State::kTimedOut);
  CHECK(step(told_late, ended).next.state == State::kSaving);
  // Its save failed, it said so, and it went on to its end.
  const Pause went_on = step(heard, PauseSaveFailed{}).next;
  CHECK(step(went_on, ended).next.state == State::kFailed);
}

TEST_CASE("Pause of a trainer that is still starting waits for a way") {
  const auto [waiting, nothing] =
      step({}, PauseAsked{.may_come = true, .deadline = Monotonic{} + 60s});
  CHECK(waiting.state == State::kRequested);
  CHECK(nothing == Action::kNone);
  CHECK(step(waiting, PauseWayFound{}).next == waiting);
  const auto [asked, action] = step(waiting, PauseWayFound{Way::kUserSignal});
  CHECK(asked.way == Way::kUserSignal);
  CHECK(action == Action::kUserSignal);
  CHECK(step(asked, PauseWayFound{Way::kHelper}).next == asked);  // once is enough
  CHECK(step(waiting, PauseTick{.now = Monotonic{} + 60s}).next.state == State::kTimedOut);
}

TEST_CASE("Pause that has failed for want of a way takes one that comes later", "[B2]") {
  for (const State late : {State::kTimedOut, State::kFailed}) {
    const auto [told, action] = step(in(late, Way::kNone), PauseWayFound{Way::kHelper});
    CHECK(told.state == late);  // the deadline has passed all the same
    CHECK(action == Action::kTellHelper);
    CHECK(step(told, PauseCommit{.step = 100}).next.state == State::kCommitted);
  }
  CHECK(step(Pause{}, PauseWayFound{Way::kHelper}).action == Action::kNone);
  CHECK(step(in(State::kCommitted, Way::kNone), PauseWayFound{Way::kHelper}).action ==
        Action::kNone);
}

TEST_CASE("Pause by a signal is taken back without a word to the trainer") {
  const auto [next, action] = step(in(State::kRequested, Way::kTerminate), PauseTakenBack{});
  CHECK(next == Pause{});
  CHECK(action == Action::kNone);
}

TEST_CASE("GracePlan leaves time for each part, in order, within the period") {
  for (const std::chrono::milliseconds grace : {0ms, 1ms, 1000ms, 2000ms, 30'000ms, 3'600'000ms}) {
    const GracePlan plan = plan_grace(grace);
    INFO(grace.count());
    CHECK(plan.terminate_all >= 0ms);
    CHECK(plan.kill_all >= plan.terminate_all);
    CHECK(plan.end >= plan.kill_all);
    CHECK(plan.end <= grace);
  }
  CHECK(plan_grace(30s) ==
        GracePlan{
            .terminate_all = 21'500ms, .kill_all = 26'500ms, .give_up = 27'500ms, .end = 29'500ms});
}
