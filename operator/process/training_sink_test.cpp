#include "operator/process/training_sink.hpp"

#include <catch2/catch.hpp>

namespace amdahl {
namespace {

const report::JobPod kPod{.pod_uid = "p-uid",
                          .job = {.ns = "research", .name = "llama"},
                          .job_uid = "j-uid",
                          .attempt = 2,
                          .rank = 0};

api::Report a_report(std::int64_t sequence) {
  return {.job = "research/llama",
          .job_uid = "j-uid",
          .attempt = 2,
          .rank = 0,
          .sequence = sequence,
          .phase = api::ReportPhase::kTrain};
}

struct Site {
  ManualClock clock;
  training::Reports reports;
  TrainingSink sink{reports, clock};
};

TEST_CASE("TrainingSink: a report is kept, and the answer is what the controller wants") {
  Site site;
  CHECK(site.sink.take(kPod, a_report(1)).request == api::ReportRequest::kNone);
  REQUIRE(site.reports.of("j-uid", 2).size() == 1);
  site.reports.answer_with("j-uid", 2,
                           {.request = api::ReportRequest::kPause, .deadline_seconds = 60},
                           site.clock.wall());
  const api::ReportReply reply = site.sink.take(kPod, a_report(2));
  CHECK(reply.request == api::ReportRequest::kPause);
  CHECK(reply.deadline_seconds == 60);
}

TEST_CASE("TrainingSink: Kubeflow's progress fills the gaps of the next report") {
  Site site;
  site.sink.take_progress(
      kPod, {.step = 40, .total_steps = 100, .metrics = {{.name = "loss", .value = "1.5"}}});
  CHECK(site.reports.of("j-uid", 2).empty());
  site.sink.take(kPod, a_report(1));
  const api::Report filled = site.reports.of("j-uid", 2).at(0).report;
  CHECK(filled.step == 40);
  CHECK(filled.total_steps == 100);
  REQUIRE(filled.metrics.size() == 1);
  api::Report knows = a_report(2);
  knows.step = 41;
  site.sink.take(kPod, knows);
  CHECK(site.reports.of("j-uid", 2).at(0).report.step == 41);
}

}  // namespace
}  // namespace amdahl
