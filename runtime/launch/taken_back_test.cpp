#include "runtime/launch/taken_back.hpp"

#include <catch2/catch.hpp>

using namespace amdahl;
using namespace amdahl::launch;
using namespace std::chrono_literals;
using State = ReportPauseState;
using Way = ReportPauseWay;

namespace {

// Both pauses, as the observer feeds them.
struct Pauses {
  Pause asked = {};
  TakenBack kept = {};

  void take(const PauseInput& input) {
    kept = keep(kept, asked, input);
    asked = step(asked, input).next;
  }
  void ask(Way way) {
    take(PauseAsked{.way = way, .last_step = 100, .deadline = Monotonic{} + 60s});
  }
  void look(std::int64_t at_step, Monotonic now = {}) {
    take(PauseTick{.now = now, .step = at_step});
  }
  // What the last report says of a trainer that ends well.
  Pause end(std::optional<std::int64_t> safe_step = {}) {
    take(PauseTrainerEnded{.safe_step = safe_step});
    return ended_for(kept, asked) ? kept.pause : asked;
  }
};

Pauses taken_back(Way way, const std::vector<PauseInput>& before) {
  Pauses pauses;
  pauses.ask(way);
  for (const PauseInput& input : before) pauses.take(input);
  pauses.take(PauseTakenBack{.step = 100});
  REQUIRE(pauses.asked == Pause{});
  return pauses;
}

const PauseInput kHeard = PauseHeard{.last_step = 100};
const PauseInput kCommit = PauseCommit{.step = 100};

}  // namespace

TEST_CASE("TakenBack is what a trainer that had heard ends for", "[D7]") {
  CHECK(taken_back(Way::kHelper, {kHeard}).end().state == State::kSaving);
  CHECK(taken_back(Way::kHelper, {kHeard}).end(100).state == State::kCommitted);
  const Pause saved = taken_back(Way::kHelper, {kHeard, kCommit}).end();
  CHECK(saved.state == State::kCommitted);
  CHECK(saved.step == 100);
  SECTION("whose save ends later") {
    Pauses pauses = taken_back(Way::kHelper, {kHeard});
    pauses.take(kCommit);
    CHECK(pauses.asked == Pause{});  // for the operator there is none as long as it runs
    CHECK(pauses.end().state == State::kCommitted);
  }
  SECTION("that takes longer than the pause may") {
    Pauses pauses = taken_back(Way::kHelper, {kHeard});
    pauses.look(100, Monotonic{} + 61s);
    CHECK(pauses.end().state == State::kSaving);
  }
  SECTION("and says so after it was taken back, or after the deadline") {
    Pauses pauses = taken_back(Way::kHelper, {});
    pauses.take(kHeard);
    CHECK(pauses.end().state == State::kSaving);
    pauses = taken_back(Way::kHelper, {PauseTick{.now = Monotonic{} + 60s}, kCommit});
    CHECK(pauses.kept.pause.state == State::kCommitted);
    pauses.take(kHeard);
    CHECK(pauses.end().state == State::kCommitted);
  }
  SECTION("while the operator repeats itself") {
    Pauses pauses = taken_back(Way::kHelper, {kHeard});
    for (int i = 0; i < 5; ++i) pauses.take(PauseTakenBack{.step = 100});
    for (int i = 0; i < 5; ++i) pauses.look(100);
    CHECK(pauses.end().state == State::kSaving);
  }
}

TEST_CASE("TakenBack is forgotten once the trainer has gone on", "[D7]") {
  for (const std::vector<PauseInput>& before :
       {std::vector{kHeard}, std::vector{kHeard, kCommit}}) {
    Pauses pauses = taken_back(Way::kHelper, before);
    pauses.look(101);  // which may have been under way
    CHECK(Pauses(pauses).end().state != State::kNone);
    pauses.look(101);
    CHECK(Pauses(pauses).end().state != State::kNone);
    pauses.look(107);
    CHECK(pauses.kept == TakenBack{});
    CHECK(pauses.end(107) == Pause{});
  }
  SECTION("because its save failed, as it said") {
    Pauses pauses = taken_back(Way::kHelper, {kHeard});
    pauses.take(PauseSaveFailed{});
    CHECK(pauses.end(100) == Pause{});
  }
  SECTION("or committed again, if it counts no steps") {
    Pauses pauses;
    pauses.ask(Way::kHelper);
    for (const PauseInput& input : {kHeard, kCommit}) pauses.take(input);
    pauses.take(PauseTakenBack{});
    pauses.take(kCommit);
    CHECK(Pauses(pauses).end().state == State::kCommitted);
    for (int i = 0; i < 3; ++i) pauses.take(PauseCommit{.step = 102});
    CHECK(Pauses(pauses).end().step == 102);
    pauses.take(PauseCommit{.step = 150});
    CHECK(pauses.end() == Pause{});
  }
}

TEST_CASE("TakenBack is nothing where no trainer heard", "[D7]") {
  CHECK(taken_back(Way::kHelper, {}).end(100) == Pause{});  // it was done
  CHECK(taken_back(Way::kNone, {}).end(100) == Pause{});
  // A usual checkpoint, late.
  CHECK(taken_back(Way::kHelper, {PauseTick{.now = Monotonic{} + 60s}, kCommit}).end() == Pause{});
  Pauses never;
  for (const PauseInput& input :
       {kHeard, kCommit, PauseInput(PauseTakenBack{}), PauseInput(PauseTick{.step = 1})})
    never.take(input);
  CHECK(never.kept == TakenBack{});
  CHECK(never.end(100) == Pause{});
}

TEST_CASE("TakenBack does not hold up a pause that is asked for after it", "[D7]") {
  Pauses pauses = taken_back(Way::kHelper, {kHeard, kCommit});
  pauses.ask(Way::kHelper);
  CHECK(pauses.asked.state == State::kRequested);
  SECTION("and is what a trainer ends for that had heard of the first") {
    CHECK(Pauses(pauses).end().state == State::kCommitted);
    pauses.take(PauseTakenBack{.step = 100});
    CHECK(pauses.end().state == State::kCommitted);
  }
  SECTION("for which the trainer saves again") {
    pauses.look(104);
    pauses.look(108);
    pauses.take(PauseHeard{.last_step = 108});
    CHECK(pauses.asked.state == State::kSaving);
    pauses.take(kCommit);
    CHECK(pauses.asked.state == State::kSaving);
    pauses.take(PauseCommit{.step = 108});
    CHECK(pauses.asked.state == State::kCommitted);
    pauses.take(PauseTakenBack{.step = 108});
    const Pause last = pauses.end();
    CHECK(last.state == State::kCommitted);
    CHECK(last.step == 108);
  }
  SECTION("which it never hears") {
    pauses.look(104);
    pauses.look(108);
    CHECK(pauses.end().state == State::kFailed);
  }
}

TEST_CASE("TakenBack: a signal was sent and cannot be taken back", "[D7]") {
  for (const Way way : {Way::kUserSignal, Way::kTerminate}) {
    CHECK(taken_back(way, {}).end().state == State::kFailed);
    CHECK(taken_back(way, {}).end(100).state == State::kCommitted);
    Pauses pauses = taken_back(way, {});
    for (std::int64_t at = 101; at < 110; ++at) pauses.look(at);
    pauses.take(PauseCommit{.step = 109});  // it had time until the deadline
    CHECK(Pauses(pauses).end().state == State::kCommitted);
    pauses.look(110);
    pauses.look(111);
    CHECK(pauses.end() == Pause{});
    pauses = taken_back(way, {});
    pauses.look(101, Monotonic{} + 60s);
    pauses.look(102, Monotonic{} + 61s);
    CHECK(pauses.end(102) == Pause{});
  }
}
