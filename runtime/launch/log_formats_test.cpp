// testdata/*.log: samples of programs, with what a report says after them. A file begins with
// "# program:", "# sample:" (recorded, or from the source) and "# expect:"; after "---" come the
// bytes of the log.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "runtime/launch/log_scanner.hpp"
#include "runtime/launch/rank_state.hpp"

using namespace amdahl;
using namespace amdahl::launch;
using namespace std::chrono_literals;

namespace {

const std::filesystem::path kFolder = "runtime/launch/testdata";

using Facts = std::map<std::string, std::string>;

struct Sample {
  std::string program = {};
  Facts expected = {};
  std::string log = {};
};

std::string value_of(std::string_view head, std::string_view key) {
  const std::size_t at = head.find(key);
  REQUIRE(at != std::string_view::npos);
  const std::string_view rest = head.substr(at + key.size());
  return std::string(rest.substr(0, rest.find('\n')));
}

Sample read_sample(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t end = text.find("\n---\n");
  REQUIRE(end != std::string::npos);
  const std::string head = text.substr(0, end);
  CHECK_FALSE(value_of(head, "# sample: ").empty());
  Sample sample{.program = value_of(head, "# program: "), .log = text.substr(end + 5)};
  std::istringstream words(value_of(head, "# expect: "));
  for (std::string word; words >> word;)
    sample.expected[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  return sample;
}

std::string text_of(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "-";
}

// As it is fed by the observer: a few bytes at a time.
api::Report report_after(std::string_view log) {
  RankState state(Monotonic{});
  state.started(Runtime::kPython, {});
  LogScanner scanner;
  Monotonic now{};
  const auto sink = [&](const LogFact& fact) {
    now += 1s;
    state.log(fact, {.now = now, .wall = {}});
  };
  constexpr std::size_t kAtOnce = 61;
  for (std::size_t at = 0; at < log.size(); at += kAtOnce)
    scanner.feed(log.substr(at, kAtOnce), sink);
  scanner.finish(sink);
  api::Report report;
  state.write(report, now + 1s);
  return report;
}

Facts facts_of(const api::Report& report) {
  Facts facts = {{"step", text_of(report.step)},
                 {"total", text_of(report.total_steps)},
                 {"source", std::string(enum_name(report.step_source))},
                 {"phase", std::string(enum_name(report.phase))}};
  for (const api::ReportMetric& metric : report.metrics) {
    std::string name = metric.name;
    std::ranges::replace(name, ' ', '_');
    facts[name] = metric.value;
  }
  return facts;
}

}  // namespace

TEST_CASE("LogScanner understands the samples of programs", "[D8][B7]") {
  int samples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const Sample sample = read_sample(entry.path());
    CAPTURE(entry.path().string(), sample.program);
    Facts facts = facts_of(report_after(sample.log));
    for (const auto& [name, value] : sample.expected) {
      CAPTURE(name);
      CHECK(facts[name] == value);
    }
    ++samples;
  }
  CHECK(samples >= 20);
}

TEST_CASE("A script that says nothing is not called Init", "[D8]") {
  RankState state(Monotonic{});
  const auto at = [](std::chrono::seconds since) { return Moment{.now = Monotonic{} + since}; };
  const auto seconds = [&](ReportPhase phase, std::chrono::seconds now) {
    api::Report report;
    state.write(report, Monotonic{} + now);
    double sum = 0;
    for (const auto& row : report.phases) sum += row.name == phase ? row.seconds : 0;
    return sum;
  };
  state.started(Runtime::kPython, at(2s));
  CHECK(seconds(ReportPhase::kUnattributed, 100s) == 98);
  CHECK(seconds(ReportPhase::kInit, 100s) == 0);
  SECTION("the first step says that what was before it was Init") {
    state.log(StepSeen{.step = 1}, at(60s));
    CHECK(seconds(ReportPhase::kInit, 100s) == 58);
    CHECK(seconds(ReportPhase::kTrain, 100s) == 40);
    CHECK(seconds(ReportPhase::kUnattributed, 100s) == 0);
  }
  SECTION("a loss without a step says so too, but not how far it is") {
    state.log(MetricsSeen{{{"loss", "1"}}}, at(60s));
    CHECK(seconds(ReportPhase::kTrain, 100s) == 40);
    api::Report report;
    state.write(report, Monotonic{} + 100s);
    CHECK_FALSE(report.step);
    CHECK(report.step_source == api::StepSource::kUnknown);
  }
  SECTION("loading weights does not") {
    state.log(PhaseSeen{ReportPhase::kCheckpointRestore}, at(10s));
    state.log(PhaseSeen{ReportPhase::kInit}, at(20s));
    CHECK(seconds(ReportPhase::kCheckpointRestore, 100s) == 10);
    CHECK(seconds(ReportPhase::kUnattributed, 100s) == 88);
  }
}

TEST_CASE("Of those who count steps the highest rank wins, and starts over", "[D8]") {
  RankState state(Monotonic{});
  const auto at = [](std::chrono::seconds since) { return Moment{.now = Monotonic{} + since}; };
  const auto source = [&] {
    api::Report report;
    state.write(report, Monotonic{} + 1h);
    return report.step_source;
  };
  CHECK(source() == api::StepSource::kUnknown);
  state.log(StepSeen{.step = 3, .total = 10, .rank = StepRank::kEpoch}, at(1s));
  CHECK(source() == api::StepSource::kLog);
  HelperMessage hook{.kind = HelperKind::kHook, .step = 70};
  state.helper(hook, true, at(1s));
  CHECK(state.step() == 70);
  CHECK(source() == api::StepSource::kHook);
  state.log(StepSeen{.step = 4, .rank = StepRank::kEpoch}, at(1s));
  state.helper({.kind = HelperKind::kHook, .step = 90}, false, at(1s));  // of another rank
  CHECK(state.step() == 70);
  state.log(StepSeen{.step = 900, .total = 1000, .rank = StepRank::kBar}, at(2s));
  CHECK(state.step() == 900);
  hook.step = 5000;
  state.helper(hook, true, at(2s));
  CHECK(state.step() == 900);
  state.log(StepSeen{.step = 40, .rank = StepRank::kLine}, at(3s));
  CHECK(state.step() == 40);
  CHECK(source() == api::StepSource::kLog);
  state.log(StepSeen{.step = 950, .total = 1000, .rank = StepRank::kBar}, at(4s));
  CHECK(state.step() == 40);
  state.log(StepSeen{.step = 39, .rank = StepRank::kLine}, at(4s));  // a rank that is behind
  CHECK(state.step() == 40);
  state.log(StepSeen{.step = 5, .rank = StepRank::kFramework}, at(5s));
  CHECK(state.step() == 5);
  CHECK(source() == api::StepSource::kFramework);
  HelperMessage message{.kind = HelperKind::kState};
  message.phase = ReportPhase::kCheckpointSave;  // names a phase, counts nothing
  state.helper(message, true, at(6s));
  state.log(StepSeen{.step = 6, .rank = StepRank::kFramework}, at(7s));
  CHECK(state.step() == 6);
  CHECK(state.phase() == ReportPhase::kCheckpointSave);
  message.phase.reset();
  message.step = 1;
  state.helper(message, true, at(8s));
  CHECK(state.step() == 1);
  CHECK(source() == api::StepSource::kScript);
  state.log(StepSeen{.step = 700, .rank = StepRank::kFramework}, at(9s));
  state.helper(hook, true, at(9s));
  CHECK(state.step() == 1);
}
