// A fault at every call that a writer, a committer or a collector makes to a store, and the page
// docs/reference/checkpoint-faults.md about it. AMDAHL_UPDATE_GOLDEN=1 writes the table anew.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>

#include "checkpoint/engine/test_state.hpp"
#include "tests/checkpoint/faulty_store.hpp"
#include "tests/checkpoint/prefix_check.hpp"
#include "tests/checkpoint/runs.hpp"

namespace amdahl::checkpoint::test {
namespace {

using Run = std::function<std::vector<std::int64_t>(Store&, const RunOptions&)>;

struct NamedFault {
  Fault fault;
  const char* what;
};
const std::vector<NamedFault> kFaults = {{Fault::kFails, "the call fails"},
                                         {Fault::kLosesReply, "the call works, its answer is lost"},
                                         {Fault::kEndsBefore, "the process ends before the call"},
                                         {Fault::kEndsAfter, "the process ends after the call"}};

struct Subject {
  std::string what;
  Run run;
  RunOptions options;
  std::vector<NamedFault> faults = kFaults;
  std::map<std::string, std::string, std::less<>> before = {};  // objects that are there first
};

struct Row {
  int calls = 0;
  std::map<std::int64_t, int> resumed = {};  // by step
  int committed_unsaid = 0;  // newer than what the run was told: an answer was lost, not the data
  std::int64_t swept = 0;    // objects that the next attempt's collection took
};

// A run with a fault at call `at`, and all that must hold after it. False: there is no such call.
bool play(const Subject& subject, Fault fault, int at, Row& row) {
  MemoryStore store;
  for (const auto& [name, bytes] : subject.before) store.replace(name, bytes);
  FaultyStore faulty(store, fault, at);
  const auto committed = subject.run(faulty, subject.options);
  if (!faulty.hit()) return false;
  ++row.calls;

  const PrefixSeen after = look_at(store, subject.options.world_size);
  CHECK(after.wrong == "");
  const std::int64_t said = committed.empty() ? 10 : committed.back();
  CHECK(after.newest >= said);
  ++row.resumed[after.newest];
  if (after.newest > said) ++row.committed_unsaid;

  const auto objects = store.objects().size();
  RunOptions next = subject.options;
  next.attempt = "c";
  next.steps = {40};
  CHECK(subject.run(store, next) == next.steps);
  const PrefixSeen finally = look_at(store, subject.options.world_size);
  CHECK(finally.wrong == "");
  CHECK(finally.newest == 40);
  CHECK(fetch_steps(store, {})->size() == 1);
  CHECK(unneeded_objects(store) == 0);
  CHECK(store.objects().at(std::string(kForeignName)) == "mine");
  row.swept +=
      static_cast<std::int64_t>(objects) - static_cast<std::int64_t>(store.objects().size());
  return true;
}

const std::string kPage = "docs/reference/checkpoint-faults.md";

std::string page_text() {
  std::ifstream file(kPage);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The row that the page has for a subject and a fault, or nothing.
std::string page_row(const std::string& page, const std::string& head) {
  const std::size_t begin = page.find(head);
  if (begin == std::string::npos) return "";
  return page.substr(begin, page.find('\n', begin) + 1 - begin);
}

std::map<std::string, std::string, std::less<>> after_step_10(const Subject& subject) {
  MemoryStore store;
  store.replace(kForeignName, "mine");
  RunOptions options = subject.options;
  options.attempt = "a";
  options.steps = {10};
  REQUIRE(subject.run(store, options).size() == 1);
  return store.objects();
}

void hold(Subject subject) {
  subject.before = after_step_10(subject);
  for (const NamedFault& fault : subject.faults) {
    Row row;
    for (int at = 1;; ++at) {
      INFO(subject.what << ", " << fault.what << ", call " << at);
      if (!play(subject, fault.fault, at, row)) break;
    }
    const std::string head = fmt::format("| {} | {} |", subject.what, fault.what);
    const std::string made =
        fmt::format("{} {} | {} | {} | {} | {} |\n", head, row.calls, row.resumed[10],
                    row.resumed[20], row.resumed[30], row.committed_unsaid);
    std::string page = page_text();
    const std::string found = page_row(page, head);
    REQUIRE(found != "");  // a new subject: give it a line in the page first
    if (std::getenv("AMDAHL_UPDATE_GOLDEN") != nullptr)
      std::ofstream(kPage) << page.replace(page.find(found), found.size(), made);
    else
      CHECK(found == made);
  }
}

const std::vector<NamedFault> kOfCalls = {kFaults[0], kFaults[1]};
const std::vector<NamedFault> kOfProcess = {kFaults[2], kFaults[3]};
const RunOptions kOneRank = {.attempt = "b", .steps = {20, 30}};
const RunOptions kDeltas = {.attempt = "b", .steps = {20, 30}, .deltas = true};
const RunOptions kTwoRanks = {.attempt = "b", .steps = {20, 30}, .world_size = 2};
const RunOptions kSkewed = {
    .attempt = "b", .steps = {20, 30}, .clock_skew = -std::chrono::hours(24)};

TEST_CASE("Any call of one rank may fail, no commit is lost and nothing left behind") {
  hold({"one rank", run_engine, kOneRank, kOfCalls});
}
TEST_CASE("One rank may end at any call, no commit is lost and nothing left behind") {
  hold({"one rank", run_engine, kOneRank, kOfProcess});
}
TEST_CASE("Any call of one rank with deltas may fail") {
  hold({"one rank, deltas", run_engine, kDeltas, kOfCalls});
}
TEST_CASE("One rank with deltas may end at any call") {
  hold({"one rank, deltas", run_engine, kDeltas, kOfProcess});
}
TEST_CASE("One rank with a wrong clock may end at any call") {
  hold({"one rank, clock a day behind", run_engine, kSkewed, {kFaults[3]}});
}
TEST_CASE("Any call of two ranks may fail") {
  hold({"two ranks", run_ranks, kTwoRanks, kOfCalls});
}
TEST_CASE("Two ranks may end at any call") {
  hold({"two ranks", run_ranks, kTwoRanks, kOfProcess});
}

}  // namespace
}  // namespace amdahl::checkpoint::test
