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
};

std::vector<Subject> subjects() {
  const std::vector<std::int64_t> steps = {20, 30};
  return {
      {"one rank", run_engine, {.attempt = "b", .steps = steps}},
      {"one rank, deltas", run_engine, {.attempt = "b", .steps = steps, .deltas = true}},
      {"one rank, clock a day behind",
       run_engine,
       {.attempt = "b", .steps = steps, .clock_skew = -std::chrono::hours(24)},
       {kFaults[3]}},
      {"two ranks", run_ranks, {.attempt = "b", .steps = steps, .world_size = 2}},
  };
}

struct Row {
  int calls = 0;
  std::map<std::int64_t, int> resumed = {};  // by step
  int committed_unsaid = 0;  // newer than what the run was told: an answer was lost, not the data
  std::int64_t swept = 0;    // objects that the next attempt's collection took
};

// A run with a fault at call `at`, and all that must hold after it. False: there is no such call.
bool play(const Subject& subject, Fault fault, int at, Row& row) {
  MemoryStore store;
  store.replace(kForeignName, "mine");
  RunOptions before = subject.options;
  before.attempt = "a";
  before.steps = {10};
  REQUIRE(subject.run(store, before).size() == 1);
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

std::string table() {
  std::string text =
      "| who | fault | calls, each once | resumed at 10 | at 20 | at 30 | of these committed "
      "though "
      "an error was said |\n| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Subject& subject : subjects())
    for (const NamedFault& fault : subject.faults) {
      Row row;
      int at = 1;
      for (;; ++at) {
        INFO(subject.what << ", " << fault.what << ", call " << at);
        if (!play(subject, fault.fault, at, row)) break;
      }
      text +=
          fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", subject.what, fault.what, row.calls,
                      row.resumed[10], row.resumed[20], row.resumed[30], row.committed_unsaid);
    }
  return text;
}

const std::string kPage = "docs/reference/checkpoint-faults.md";
const std::string kBegin = "<!-- generated: faults -->\n\n";
const std::string kEnd = "\n<!-- end -->";

TEST_CASE(
    "A fault at any call leaves the newest commit, bit for bit, and nothing after collection") {
  const std::string made = table();
  std::ifstream file(kPage);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = page.find(kBegin);
  REQUIRE(begin != std::string::npos);
  const std::size_t from = begin + kBegin.size();
  const std::size_t end = page.find(kEnd, from);
  REQUIRE(end != std::string::npos);
  if (std::getenv("AMDAHL_UPDATE_GOLDEN") != nullptr)
    std::ofstream(kPage) << page.substr(0, from) << made << page.substr(end);
  else
    CHECK(page.substr(from, end - from) == made);
}

}  // namespace
}  // namespace amdahl::checkpoint::test
