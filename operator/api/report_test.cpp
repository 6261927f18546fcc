#include "operator/api/report.hpp"

#include <catch2/catch.hpp>

#include "base/json_decode.hpp"
#include "base/json_dump.hpp"
#include "base/json_encode.hpp"
#include "base/validate.hpp"

using namespace amdahl;
using namespace amdahl::api;

namespace {

Report full_report() {
  const WallTime time{std::chrono::seconds{1'700'000'000}};
  return {.job = "research/llama",
          .job_uid = "a-b",
          .pod = "llama-1-0",
          .pod_uid = "c-d",
          .attempt = 1,
          .rank = 3,
          .sequence = 7,
          .sent_at = time,
          .phase = ReportPhase::kTrain,
          .phases = {{.name = ReportPhase::kInit, .seconds = 1.5},
                     {.name = ReportPhase::kTrain, .seconds = 2}},
          .step = 10,
          .total_steps = 100,
          .step_seconds = 0.25,
          .memory_peak_bytes = std::int64_t{3} << 30,
          .ended_ranks = {24, 25},
          .ended_age_seconds = 2.5,
          .metrics = {{.name = "loss", .value = "nan"}},
          .checkpoint = ReportCheckpoint{.step = 8, .path = "/c/8", .committed_at = time},
          .pause = {.state = ReportPauseState::kSaving, .way = ReportPauseWay::kHelper},
          .error = ReportError{.kind = ReportErrorKind::kException, .type = "ValueError"},
          .exit = ReportExit{.code = 1}};
}

}  // namespace

TEST_CASE("Report is read as it was written") {
  const Report report = full_report();
  const std::string text = dump_json(encode(report));
  CHECK(text.size() < kReportBytesMax);
  const auto again = decode<Report>(text);
  REQUIRE(again);
  CHECK(*again == report);
  CHECK(validate(*again));
}

TEST_CASE("Report of a newer rank is read with what is known") {
  const auto report = decode<Report>(
      R"({"job":"a/b","attempt":1,"rank":0,"sequence":1,"phase":"Dreaming","more":{"x":[1]},
          "pause":{"state":"Hibernating"}})");
  REQUIRE(report);
  CHECK(report->phase == ReportPhase::kUnattributed);
  CHECK(report->pause.state == ReportPauseState::kNone);
}

TEST_CASE("Report over a bound is refused by validate") {
  Report report = full_report();
  SECTION("too many metrics") {
    report.metrics.assign(kReportMetricsMax + 1, {.name = "loss", .value = "1"});
  }
  SECTION("a long message") {
    report.error->message.assign(kReportErrorMessageMax + 1, 'x');
  }
  SECTION("a step below zero") {
    report.step = -1;
  }
  SECTION("memory below zero") {
    report.memory_peak_bytes = -1;
  }
  SECTION("more memory than any machine has") {
    report.memory_peak_bytes = kReportIntegerMax + 1;
  }
  SECTION("more ended ranks than a node has processes") {
    report.ended_ranks.assign(kReportEndedRanksMax + 1, 0);
  }
  SECTION("a rank that no job has") {
    report.ended_ranks = {kReportRankMax + 1};
  }
  SECTION("a rank below zero") {
    report.ended_ranks = {-1};
  }
  SECTION("ranks that will have ended") {
    report.ended_age_seconds = -1;
  }
  SECTION("an exit code that is none") {
    report.exit->code = 256;
  }
  CHECK_FALSE(validate(report));
}

TEST_CASE("ReportReply says nothing when nothing is wanted") {
  CHECK(dump_json(encode(ReportReply{})) == "{}");
  const auto reply = decode<ReportReply>(R"({"request":"Pause","deadlineSeconds":90})");
  REQUIRE(reply);
  CHECK(reply->request == ReportRequest::kPause);
  CHECK(reply->deadline_seconds == 90);
  CHECK_FALSE(reply->report_every_seconds);
  CHECK_FALSE(reply->checkpoint_interval_seconds);
  CHECK(dump_json(encode(ReportReply{.checkpoint_interval_seconds = 832})) ==
        R"({"checkpointIntervalSeconds":832})");
}
