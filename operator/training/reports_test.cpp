#include "operator/training/reports.hpp"

#include <catch2/catch.hpp>

namespace amdahl::training {
namespace {

using namespace std::chrono_literals;

api::Report a_report(std::int64_t sequence, std::optional<std::int64_t> step) {
  api::Report report{.job = "research/train", .job_uid = "j", .attempt = 2, .sequence = sequence};
  report.step = step;
  return report;
}

struct Bench {
  Reports reports;
  std::vector<std::string> woken;
  WallTime now{1000s};
  Bench() {
    reports.on_news([this](const kube::ObjectKey& key) { woken.push_back(to_string(key)); });
  }
};

TEST_CASE("Reports keep the newest of each rank, and drop what is older") {
  Bench bench;
  bench.reports.note(a_report(2, 20), "p0", bench.now);
  bench.reports.note(a_report(1, 10), "p0", bench.now);
  REQUIRE(bench.reports.of("j", 2).size() == 1);
  CHECK(bench.reports.of("j", 2)[0].report.step == 20);
  CHECK(bench.reports.dropped() == 1);
  api::Report old = a_report(9, 99);
  old.attempt = 1;
  bench.reports.note(old, "p0", bench.now);
  CHECK(bench.reports.of("j", 2)[0].report.step == 20);
  CHECK(bench.reports.of("j", 1).empty());
  api::Report next = a_report(1, 21);
  next.attempt = 3;
  bench.reports.note(next, "p1", bench.now);
  CHECK(bench.reports.of("j", 3)[0].report.step == 21);
  CHECK(bench.reports.of("j", 2)[0].report.step == 20);  // its account may not be settled yet
}

TEST_CASE("Reports believe the connection about who sends, not the body") {
  Bench bench;
  api::Report report = a_report(1, 10);
  report.pod_uid = "somebody else";
  bench.reports.note(report, "p0", bench.now);
  CHECK(bench.reports.of("j", 2)[0].report.pod_uid == "p0");
}

TEST_CASE("Reports wake the controller for news, and for progress only now and then") {
  Bench bench;
  bench.reports.note(a_report(1, 10), "p0", bench.now);
  CHECK(bench.woken == std::vector<std::string>{"research/train"});
  bench.reports.note(a_report(2, 11), "p0", bench.now + 5s);
  CHECK(bench.woken.size() == 1);
  api::Report saved = a_report(3, 12);
  saved.pause.state = api::ReportPauseState::kCommitted;
  bench.reports.note(saved, "p0", bench.now + 6s);
  CHECK(bench.woken.size() == 2);
  saved.sequence = 4;
  saved.step = 13;
  bench.reports.note(saved, "p0", bench.now + 30s);
  CHECK(bench.woken.size() == 3);
}

TEST_CASE("A reply counts its deadline down, and ends with its attempt") {
  Bench bench;
  bench.reports.answer_with("j", 2, {.request = api::ReportRequest::kPause, .deadline_seconds = 60},
                            bench.now);
  const auto reply = bench.reports.reply_for("j", 2, bench.now + 45s);
  CHECK(reply.request == api::ReportRequest::kPause);
  CHECK(reply.deadline_seconds == 15);
  CHECK(bench.reports.reply_for("j", 1, bench.now).request == api::ReportRequest::kNone);
  bench.reports.answer_with("j", 2, {.checkpoint_interval_seconds = 832}, bench.now);
  CHECK(bench.reports.reply_for("j", 2, bench.now) ==
        api::ReportReply{.checkpoint_interval_seconds = 832});
  bench.reports.answer_with("j", 3, {}, bench.now);
  CHECK(bench.reports.reply_for("j", 3, bench.now).request == api::ReportRequest::kNone);
}

}  // namespace
}  // namespace amdahl::training
