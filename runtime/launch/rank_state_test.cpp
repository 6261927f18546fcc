#include "runtime/launch/rank_state.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/rng.hpp"
#include "runtime/launch/report_text.hpp"

using namespace amdahl;
using namespace amdahl::launch;
using namespace std::chrono_literals;
using api::ReportErrorKind;

namespace {

Moment at(std::chrono::nanoseconds since) {
  return {.now = Monotonic{} + since,
          .wall = WallTime{std::chrono::duration_cast<std::chrono::microseconds>(since)}};
}

api::Report report_of(const RankState& state, std::chrono::nanoseconds now) {
  api::Report report{.job = "a/b"};
  state.write(report, Monotonic{} + now);
  return report;
}

HelperMessage parsed(std::string_view line) {
  const auto message = read_helper_line(line);
  REQUIRE(message);
  return *message;
}

ErrorSeen exception(std::string type) {
  return {{.kind = ReportErrorKind::kException,
           .source = api::ReportErrorSource::kLog,
           .type = std::move(type)}};
}

}  // namespace

TEST_CASE("RankState goes from waiting over the rendezvous to training") {
  RankState state(Monotonic{});
  state.started(Runtime::kTorchrun, at(2s));
  CHECK(state.phase() == ReportPhase::kRendezvous);
  state.workers_seen(at(5s));
  CHECK(state.phase() == ReportPhase::kInit);
  state.log(StepSeen{.step = 1, .total = 10}, at(15s));
  state.log(StepSeen{.step = 3}, at(19s));
  CHECK(state.phase() == ReportPhase::kTrain);
  const api::Report report = report_of(state, 20s);
  CHECK(report.step == 3);
  CHECK(report.total_steps == 10);
  CHECK(report.step_seconds == Approx(2));
  CHECK(report.step_age_seconds == Approx(1));
  double sum = 0;
  for (const auto& phase : report.phases) sum += phase.seconds;
  CHECK(sum == Approx(20));
}

TEST_CASE("RankState believes the package more than the log") {
  RankState state(Monotonic{});
  state.started(Runtime::kPython, at(0s));
  state.helper(parsed(R"({"type":"state","step":5,"total":9,"metrics":{"loss":1.5}})"), true,
               at(1s));
  state.log(StepSeen{.step = 700}, at(2s));
  state.log(PhaseSeen{ReportPhase::kEval}, at(2s));
  CHECK(state.step() == 5);
  CHECK(state.phase() == ReportPhase::kTrain);
  state.helper(parsed(R"({"type":"state","step":6})"), false, at(3s));
  CHECK(state.step() == 5);  // another process of the node does not speak for it
  state.helper(parsed(R"({"type":"state","step":7,"dataWait":2.5})"), true, at(11s));
  const auto spans = state.spans(Monotonic{} + 11s);
  CHECK(spans[static_cast<std::size_t>(ReportPhase::kDataWait)] == 2500ms);
}

TEST_CASE("RankState: a step of a hook ends Init, and metrics of the log stay", "[D8]") {
  RankState state(Monotonic{});
  state.started(Runtime::kPython, at(2s));
  state.helper(parsed(R"({"type":"hook","step":1})"), true, at(12s));
  state.log(MetricsSeen{{{"loss", "0.5"}}}, at(13s));
  state.helper(parsed(R"({"type":"hook","step":11})"), true, at(32s));
  const api::Report report = report_of(state, 42s);
  CHECK(report.step == 11);
  CHECK(report.step_source == api::StepSource::kHook);
  CHECK(report.step_seconds == Approx(2));
  REQUIRE(report.metrics.size() == 1);
  const auto spans = state.spans(Monotonic{} + 42s);
  CHECK(spans[static_cast<std::size_t>(ReportPhase::kInit)] == 10s);
  CHECK(spans[static_cast<std::size_t>(ReportPhase::kTrain)] == 30s);
}

TEST_CASE("RankState: no pause waits for a checkpoint of a hook's step", "[D8][D2]") {
  RankState state(Monotonic{});
  state.started(Runtime::kPython, at(0s));
  state.helper(parsed(R"({"type":"hook","step":500})"), true, at(1s));
  CHECK_FALSE(state.known_step());
  state.committed({.step = 3}, at(2s));  // epochs
  CHECK(state.known_step() == 3);
  CHECK_FALSE(state.safe_step());
  CHECK(state.step() == 500);
}

TEST_CASE("RankState: a step of a hook may be older than the error that was printed", "[D8]") {
  RankState state(Monotonic{});
  state.log(exception("ValueError"), at(10s));
  state.helper(parsed(R"({"type":"hook","step":1})"), true, at(10s));
  CHECK(state.error());
  state.helper(parsed(R"({"type":"hook","step":2})"), true, at(10s + RankState::kHookLagMax));
  CHECK_FALSE(state.error());
}

TEST_CASE("RankState keeps the first error until a step proves that it was survived") {
  RankState state(Monotonic{});
  state.log(exception("ValueError"), at(1s));
  state.log(exception("KeyError"), at(2s));
  REQUIRE(state.error());
  CHECK(state.error()->type == "ValueError");
  state.log(StepSeen{.step = 1}, at(3s));
  CHECK_FALSE(state.error());
  state.log(exception("KeyError"), at(4s));
  CHECK(state.error()->type == "KeyError");
  SECTION("a trainer that ends well has not failed") {
    state.ended({.code = 0}, at(5s));
    CHECK_FALSE(state.error());
  }
  SECTION("one that fails has") {
    state.ended({.code = 1}, at(5s));
    CHECK(state.error()->type == "KeyError");
    CHECK(report_of(state, 6s).exit == api::ReportExit{.code = 1});
  }
  SECTION("what is certain replaces a claim") {
    state.failed({.kind = ReportErrorKind::kException,
                  .source = api::ReportErrorSource::kErrorFile,
                  .type = "OSError"},
                 at(5s));
    CHECK(state.error()->type == "OSError");
  }
}

TEST_CASE("RankState: a worker that was killed is why the others lost it") {
  RankState state(Monotonic{});
  state.log(exception("DistBackendError"), at(1s));
  state.log(ErrorSeen{{.kind = ReportErrorKind::kWorkerKilled, .message = "Signal 9"}}, at(2s));
  REQUIRE(state.error());
  CHECK(state.error()->kind == ReportErrorKind::kWorkerKilled);
  state.log(exception("ValueError"), at(3s));
  CHECK(state.error()->message == "Signal 9");
}

TEST_CASE("RankState does not call half an hour without a sign of work Init") {
  RankState state(Monotonic{});
  state.started(Runtime::kPython, at(0s));
  state.tick(at(30min));
  CHECK(state.phase() == ReportPhase::kInit);
  state.tick(at(31min));
  CHECK(state.phase() == ReportPhase::kUnattributed);
  state.stopping(at(32min));
  state.log(StepSeen{.step = 1}, at(33min));
  CHECK(state.phase() == ReportPhase::kStopping);
}

TEST_CASE("RankState takes a checkpoint once and never an older one") {
  RankState state(Monotonic{});
  CHECK(state.committed({.step = 10, .path = "/a"}, at(1s)));
  CHECK_FALSE(state.committed({.step = 10, .path = "/a"}, at(2s)));
  CHECK_FALSE(state.committed({.step = 9, .path = "/b"}, at(3s)));
  CHECK(state.committed({.step = 11}, at(4s)));
  CHECK_FALSE(state.safe_step());
  state.helper(parsed(R"({"type":"state","step":11})"), true, at(5s));
  CHECK(state.safe_step() == 11);
  state.helper(parsed(R"({"type":"state","step":12})"), true, at(6s));
  CHECK_FALSE(state.safe_step());
  CHECK(report_of(state, 5s).checkpoint->step == 11);
}

TEST_CASE("RankState knows a step by a checkpoint of this trainer, not by an earlier one", "[B2]") {
  RankState state(Monotonic{});
  state.committed({.step = 40, .path = "p"}, {});
  CHECK_FALSE(state.known_step());
  state.started(Runtime::kPython, {});
  CHECK_FALSE(state.known_step());
  state.committed({.step = 50, .path = "p"}, {});
  CHECK(state.known_step() == 50);
  state.helper({.step = 60}, true, {});
  CHECK(state.known_step() == 60);
}

TEST_CASE("RankState counts saves that failed, bounded and in one line", "[D2]") {
  RankState state(Monotonic{});
  state.save_failed(0, "disk\nfull", {});
  api::Report report;
  state.write(report, {});
  REQUIRE(report.failed_saves);
  CHECK(report.failed_saves->count == 1);
  CHECK(report.failed_saves->message == "disk full");
  state.save_failed(4, std::string(5000, 'x'), {});
  state.save_failed(2, "https://host/x?token=1 then ?2", {});
  state.write(report, {});
  CHECK(report.failed_saves->count == 4);
  CHECK(report.failed_saves->message == "https://host/x then ?2");
}

TEST_CASE("read_helper_line takes what it can use and nothing else") {
  CHECK(parsed(R"({"type":"hello","localRank":3})").local_rank == 3);
  CHECK_FALSE(parsed(R"({"type":"hello","localRank":3})").hook);
  CHECK(parsed(R"({"type":"hello","hook":true})").hook);
  CHECK_FALSE(parsed(R"({"type":"hello","hook":"true"})").hook);
  CHECK(parsed(R"({"type":"hook","step":4})").step == 4);
  CHECK_FALSE(parsed(R"({"type":"hook","step":9223372036854775807})").step);
  CHECK(parsed(R"({"type":"state","step":-1})").step == std::nullopt);
  CHECK(parsed(R"({"type":"state","step":"x","phase":"Lunch"})").phase == std::nullopt);
  CHECK(parsed(R"({"type":"state","step":1e300,"dataWait":-3})").data_wait == 0ns);
  const auto place = [](std::string_view path) {
    return parsed(fmt::format(R"({{"type":"committed","step":3,"path":"{}"}})", path))
        .checkpoint->path;
  };
  CHECK(place("file:///c/3") == "file:///c/3");
  CHECK(place("/c/3") == "file:///c/3");
  CHECK(place("gs://b/c/3") == "gs://b/c/3");
  CHECK(place("c/3") == "c/3");
  const std::string longest(api::kReportPathMax - 7, '/');
  CHECK(place(longest) == "file://" + longest);
  CHECK(place(longest + "x").empty());
  const auto engine = *parsed(R"({"type":"committed","step":3,"manifestDigest":"sha256:ab",
      "stallSeconds":0.25,"uploadLagSeconds":-1,"predictedPauseSeconds":1e300,
      "failedSaves":9999999999,"orphansCollected":2})")
                           .checkpoint;
  CHECK(engine.manifest_digest == "sha256:ab");
  CHECK(engine.stall_seconds == 0.25);
  CHECK_FALSE(engine.upload_lag_seconds);
  CHECK_FALSE(engine.predicted_pause_seconds);
  CHECK(engine.failed_saves == api::kReportCountMax);
  CHECK(engine.orphans_collected == 2);
  CHECK(parsed(R"({"type":"state","metrics":{"a":1,"b":"nan","c":[1],"d":null}})").metrics.size() ==
        2);
  for (const std::string_view bad :
       {"", "x", "{", "7", "[]", R"({"type":"dance"})", R"({"type":7})", R"({"type":"committed"})"})
    CHECK_FALSE(read_helper_line(bad));
  CHECK_FALSE(read_helper_line(std::string(kHelperLineBytesMax, '[')));
  CHECK_FALSE(read_helper_line(R"({"type":"state","x":)" + std::string(1000, '[')));
  CHECK(read_marker(R"({"step":7,"path":"/c/7"})") ==
        api::ReportCheckpoint{.step = 7, .path = "file:///c/7"});
  CHECK_FALSE(read_marker(R"({"path":"/c/7"})"));
}

TEST_CASE("termination_message fits and is JSON, whatever is in the report") {
  Rng rng(11);
  const auto noise = [&](std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(rng.below(256));
    return text;
  };
  for (int round = 0; round < 50; ++round) {
    api::Report report{.job = noise(500), .job_uid = noise(250), .pod = noise(250)};
    for (int i = 0; i < 8; ++i) report.metrics.push_back({.name = noise(63), .value = noise(32)});
    for (int i = 0; i < 10; ++i) report.phases.push_back({.seconds = 1.23456789e8});
    report.checkpoint = api::ReportCheckpoint{.step = 1, .path = noise(1024)};
    report.error = api::ReportError{
        .type = noise(128), .message = noise(2048), .where = std::string(256, '\x01')};
    report.exit = api::ReportExit{.code = 1};
    const std::string text = termination_message(report);
    CHECK(text.size() <= api::kTerminationMessageBytesMax);
    const auto json = nlohmann::json::parse(text, nullptr, false);
    REQUIRE(json.is_object());
    CHECK(json["exit"]["code"] == 1);
    CHECK(json.contains("error"));
  }
}

TEST_CASE("termination_message keeps all of a usual report and cuts no character in two") {
  api::Report report{.job = "research/llama"};
  report.error = api::ReportError{.kind = ReportErrorKind::kException, .message = "short"};
  CHECK(termination_message(report) == report_json(report));
  std::string euros;
  for (int i = 0; i < 1500; ++i) euros += "\xe2\x82\xac";
  report.error->message = euros;
  const std::string text = termination_message(report);
  CHECK(text.size() <= api::kTerminationMessageBytesMax);
  CHECK_FALSE(text.contains("\xef\xbf\xbd"));
}

TEST_CASE("metrics_text is what Prometheus reads") {
  RankState state(Monotonic{});
  state.log(StepSeen{.step = 3}, at(2s));
  const std::string text = metrics_text(report_of(state, 5s), {.reports_sent = 4});
  CHECK(text.contains("\namdahl_launch_step 3\n"));
  CHECK(text.contains("amdahl_launch_phase_seconds_total{phase=\"Train\"} 3\n"));
  CHECK(text.contains("amdahl_launch_reports_sent_total 4\n"));
}
