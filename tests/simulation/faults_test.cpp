// Faults that a plan asks for do happen, and as they are described.
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <iterator>

#include "tests/simulation/judge.hpp"
#include "tests/simulation/sim_stream.hpp"
#include "tests/simulation/world.hpp"

namespace amdahl::simulation {
namespace {

using namespace std::chrono_literals;

RunResult traced(std::string_view subject, FaultPlan plan) {
  const local::BuiltinSchemas schemas;
  const StartState start(schemas, find_subject(subject)->definitions);
  return run_world(start, {.subject = find_subject(subject),
                           .seed = 1,
                           .workload = 1,
                           .plan = std::move(plan),
                           .keep_trace = true});
}

// Lines from `first` on that have all the words.
std::size_t lines_with(const RunResult& run, std::vector<std::string_view> words,
                       std::string_view first = "") {
  const auto begin = std::ranges::find_if(
      run.trace, [&](const std::string& line) { return line.find(first) != line.npos; });
  return static_cast<std::size_t>(
      std::count_if(begin, run.trace.end(), [&](const std::string& line) {
        return std::ranges::all_of(
            words, [&](std::string_view word) { return line.find(word) != line.npos; });
      }));
}

}  // namespace

TEST_CASE("A reference in which the operator did nothing, or wrong, is objected to") {
  const RunOptions options{.subject = find_subject("mirror")};
  RunResult idle;
  idle.end["configmaps sim/a"] = R"({"metadata":{"name":"a"}})";
  CHECK(judge(options, idle, idle).size() == 1);
  RunResult good = idle;
  good.counts["configmaps sim/a-mirror"] = {.creates = 1, .operator_creates = 1};
  CHECK(judge(options, good, good).empty());
  RunResult loud = good;
  loud.violations.emplace_back("no silence");
  CHECK(judge(options, good, loud).size() == 1);
}

TEST_CASE("A reorder brings an older event of one kind after a newer one of another") {
  boost::asio::io_context io;
  ManualClock clock;
  Agenda agenda(clock);
  const FaultPlan plan{{.kind = FaultKind::kReorder, .arg = 30'000, .for_ms = 60'000}};
  FaultBook book(plan);
  const auto stream = [&](std::string kind, std::int32_t replica) {
    return std::make_shared<StreamState>(io.get_executor(), agenda, book, Rng(1),
                                         StreamState::Reader{replica, std::move(kind)});
  };
  const auto pods = stream("pods", 0);
  const auto maps = stream("configmaps", 0);
  const auto others = stream("pods", 1);
  pods->take("older\n");
  clock.advance(1s);
  maps->take("newer\n");
  others->take("newer\n");
  clock.advance(1s);
  agenda.run_due();
  CHECK(pods->ready.empty());
  CHECK(maps->ready == "newer\n");
  CHECK(others->ready == "newer\n");  // the other replica hears in time
  clock.advance(30s);
  agenda.run_due();
  CHECK(pods->ready == "older\n");
}

TEST_CASE("History goes while a replica reads a list in pages", "[simulation]") {
  const RunResult run = traced("mirror", {{FaultKind::kPagedLists, 60'000, 0, 0, 60'000},
                                          {FaultKind::kPagedLists, 60'000, 1, 0, 60'000}});
  CHECK(lines_with(run, {"GET", "/configmaps?", "limit=2"}) > 2);
  CHECK(lines_with(run, {"history goes while"}) > 0);
  CHECK(lines_with(run, {"GET", "continue=", "-> 410"}) > 0);
  CHECK(lines_with(run, {"GET", "continue=", "-> 200"}) > 0);
  CHECK(run.violations.empty());
}

TEST_CASE("A watch goes on at a server that is behind what it has seen", "[simulation]") {
  const RunResult run = traced("mirror", {{FaultKind::kStaleStart, 30'000, 0, 20, 120'000},
                                          {FaultKind::kBreakStreams, 60'000, 0, 0, 0}});
  CHECK(lines_with(run, {"knows more of configmaps"}) > 0);
  CHECK(run.violations.empty());
}

TEST_CASE("A process dies at a write of its lease", "[simulation]") {
  for (const FaultKind kind : {FaultKind::kCrashBeforeSend, FaultKind::kCrashAfterSend,
                               FaultKind::kCrashAfterReply, FaultKind::kFreezeAtWrite}) {
    const RunResult run = traced("counted", {{kind, 2, 0, kAtLease, 40'000}});
    INFO(name(kind));
    CHECK(lines_with(run, {kind == FaultKind::kFreezeAtWrite ? "stops operator" : "crashes"}) == 1);
    CHECK(run.violations.empty());
  }
}

TEST_CASE("A node is given to somebody else, and its pods go", "[simulation]") {
  // When pods run depends on the seed; one of these moments finds some.
  FaultPlan plan;
  for (const std::int64_t at : {20'000, 35'000, 50'000, 65'000, 80'000})
    plan.push_back({FaultKind::kPreempt, at, 0, 0, 30'000});
  const RunResult run = traced("gang", std::move(plan));
  CHECK(lines_with(run, {"kubelet removes pods"}, "fault preempt") > 0);
  CHECK(run.violations.empty());
}

TEST_CASE("A request is refused as the plan says", "[simulation]") {
  for (const std::int64_t status : {401, 409, 429, 500, 503, 504}) {
    const RunResult run = traced("counted", {{FaultKind::kRefuse, 9, 0, status, 0}});
    INFO(status);
    CHECK(lines_with(run, {fmt::format("refuse at=9 replica=0 arg={}", status)}) == 1);
    CHECK(run.violations.empty());
  }
}

}  // namespace amdahl::simulation
