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

const JobId kId{.key = {.ns = "research", .name = "train"}, .uid = "j"};

PodSeen a_pod(std::string uid, std::uint32_t attempt, std::string owner = "j") {
  return {.uid = std::move(uid), .owner_uid = std::move(owner), .attempt = attempt};
}

struct Bench {
  Reports reports;
  // Of all attempts, as the cache has them.
  std::vector<PodSeen> pods = {a_pod("p0", 1), a_pod("p0", 2), a_pod("p1", 3)};
  std::vector<RankReport> of(std::int32_t attempt) const {
    return reports.of(kId, attempt, pods, {.steady = now, .wall = wall});
  }
  std::vector<std::string> woken;
  Monotonic now{1000s};
  WallTime wall{5000s};
  Bench() {
    reports.on_news([this](const kube::ObjectKey& key) { woken.push_back(to_string(key)); });
  }
};

TEST_CASE("Reports keep the newest of each rank, and drop what is older") {
  Bench bench;
  bench.reports.note(a_report(2, 20), "p0", bench.now);
  bench.reports.note(a_report(1, 10), "p0", bench.now);
  REQUIRE(bench.of(2).size() == 1);
  CHECK(bench.of(2)[0].report.step == 20);
  CHECK(bench.reports.dropped() == 1);
  api::Report old = a_report(9, 99);
  old.attempt = 1;
  bench.reports.note(old, "p0", bench.now);
  CHECK(bench.of(2)[0].report.step == 20);
  CHECK(bench.of(1).empty());
  api::Report next = a_report(1, 21);
  next.attempt = 3;
  bench.reports.note(next, "p1", bench.now);
  CHECK(bench.of(3)[0].report.step == 21);
  CHECK(bench.of(2)[0].report.step == 20);  // its account may not be settled yet
}

TEST_CASE("Reports believe the connection about who sends, not the body") {
  Bench bench;
  api::Report report = a_report(1, 10);
  report.pod_uid = "somebody else";
  bench.reports.note(report, "p0", bench.now);
  CHECK(bench.of(2)[0].report.pod_uid == "p0");
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

TEST_CASE("Progress of the first rank that counts steps wakes the controller", "[B4][D8]") {
  Bench bench;
  api::Report silent = a_report(1, 0);
  silent.step.reset();
  bench.reports.note(silent, "p0", bench.now);
  const auto of_rank = [&](std::int64_t rank, std::int64_t sequence) {
    api::Report report = a_report(sequence, 10 * sequence);
    report.rank = rank;
    bench.reports.note(report, fmt::format("p{}", rank), bench.now + sequence * 30s);
    return bench.woken.size();
  };
  CHECK(of_rank(1, 1) == 2);  // it has a step
  CHECK(of_rank(2, 1) == 3);
  CHECK(of_rank(1, 2) == 4);
  CHECK(of_rank(2, 3) == 4);  // another one speaks for all
}

TEST_CASE("A step is as old as its rank says, or else as the time since it was heard of", "[B10]") {
  Bench bench;
  api::Report report = a_report(1, 10);
  report.step_age_seconds = 600;
  bench.reports.note(report, "p0", bench.now);
  CHECK(bench.of(2)[0].step_changed == bench.wall - 600s);
  bench.reports.note(a_report(2, 10), "p0", bench.now);  // the same step: nothing is new
  CHECK(bench.of(2)[0].step_changed == bench.wall - 600s);
  bench.reports.note(a_report(3, 11), "p0", bench.now);
  CHECK(bench.of(2)[0].step_changed == bench.wall);
  bench.now += 5s;
  bench.wall -= 1h;  // somebody sets the clock
  CHECK(bench.of(2)[0].step_changed == bench.wall - 5s);
  CHECK(bench.of(2)[0].received == bench.wall - 5s);
}

TEST_CASE("A reply counts its deadline down, and ends with its attempt") {
  Bench bench;
  bench.reports.answer_with(kId, 2, {.request = api::ReportRequest::kPause, .deadline_seconds = 60},
                            bench.now);
  const auto reply = bench.reports.reply_for(kId, 2, bench.now + 45s);
  CHECK(reply.request == api::ReportRequest::kPause);
  CHECK(reply.deadline_seconds == 15);
  CHECK(bench.reports.reply_for(kId, 1, bench.now).request == api::ReportRequest::kNone);
  bench.reports.answer_with(kId, 2, {.checkpoint_interval_seconds = 832}, bench.now);
  CHECK(bench.reports.reply_for(kId, 2, bench.now) ==
        api::ReportReply{.checkpoint_interval_seconds = 832});
  bench.reports.answer_with(kId, 3, {}, bench.now);
  CHECK(bench.reports.reply_for(kId, 3, bench.now).request == api::ReportRequest::kNone);
}

TEST_CASE("Reports count when their pod is one of the attempt", "[A2]") {
  Bench bench;
  bench.reports.note(a_report(1, 10), "stranger", bench.now);
  CHECK(bench.of(2).empty());
  bench.pods.push_back(a_pod("stranger", 2, "another job"));
  bench.pods.push_back(a_pod("stranger", 1));
  CHECK(bench.of(2).empty());
  bench.pods.push_back(a_pod("stranger", 2));
  CHECK(bench.of(2).size() == 1);
}

TEST_CASE("Reports of one UID in two namespaces are of two jobs", "[A2]") {
  Bench bench;
  bench.reports.note(a_report(1, 10), "p0", bench.now);
  api::Report forged = a_report(1, 99);
  forged.job = "attacker/train";
  forged.attempt = 1'000'000'000;
  bench.reports.note(forged, "p0", bench.now);
  REQUIRE(bench.of(2).size() == 1);
  CHECK(bench.of(2)[0].report.step == 10);
  CHECK(bench.reports.note(a_report(2, 11), "p0", bench.now) == Noted::kTaken);
  CHECK(bench.woken.front() == "research/train");
}

TEST_CASE("Reports of more jobs than the bound are refused until others are gone", "[A7]") {
  Reports reports(2);
  const Monotonic now{1000s};
  const auto send = [&](const char* uid) {
    api::Report report = a_report(1, 1);
    report.job_uid = uid;
    return reports.note(report, "p0", now);
  };
  CHECK(send("a") == Noted::kTaken);
  CHECK(send("b") == Noted::kTaken);
  CHECK(send("c") == Noted::kFull);
  CHECK(send("b") == Noted::kOld);  // the same sequence again, but it has its place
  reports.sweep([](const JobId& job) { return job.uid == "a"; });
  CHECK(reports.jobs() == 1);
  CHECK(send("c") == Noted::kTaken);
}

}  // namespace
}  // namespace amdahl::training
