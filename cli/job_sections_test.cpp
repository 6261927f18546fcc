#include "cli/job_sections.hpp"

#include "cli/job_view.hpp"
#include "cli/test_jobs.hpp"

namespace amdahl::cli {
namespace {

using Catch::Contains;

TEST_CASE("describe tells each fact once", "[D11]") {
  const std::string cause = R"({"class": "UserException", "message": "KeyError:\n'labels'"})";
  TrainingJob job = test_job(
      R"({"observedGeneration": 2, "attempt": 2, "conditions": [)" +
      test_condition("Failed", "True", "CannotRecover", "rank 1 failed: KeyError: 'labels'") +
      R"(], "attempts": [{"number": 2, "outcome": "Failed", "cause": )" + cause + "}]}");
  JobSeen failed{.job = std::move(job), .now = kTestNow};
  failed.events.push_back(from_json<kube::Event>(
      R"({"metadata": {"name": "e", "uid": "e"}, "type": "Warning", "reason": "RankFailed",
          "note": "attempt 2 ended: rank 1 failed: KeyError: 'labels'"})"));
  const std::string text = describe_text(failed);
  const std::size_t first = text.find("KeyError: 'labels'");
  INFO(text);
  CHECK(first != std::string::npos);
  CHECK(text.find("KeyError: 'labels'", first + 1) == std::string::npos);
  CHECK_THAT(text, Contains("attempt 2 ended: ..."));
  const TrainingJob restarting = test_job(R"({"observedGeneration": 2, "conditions": [)" +
                                          test_condition("Running", "False", "Restarting") + "]}");
  CHECK_THAT(describe_text(JobSeen{.job = restarting, .now = kTestNow}),
             Contains("Phase:        Restarting\n"));
}

TEST_CASE("What was told is left out, as a whole or inside a longer sentence", "[D11]") {
  Told told;
  CHECK(told.once("rank 1 failed: no space") == "rank 1 failed: no space");
  CHECK(told.once("rank 1 failed: no space") == "");
  CHECK(told.rest_of("failed: no space") == "");
  CHECK(told.rest_of("attempt 2: rank 1 failed: no space; it ends") == "attempt 2: ...; it ends");
  CHECK(told.rest_of("space") == "space");  // too short to tell
}

TEST_CASE("Events are told oldest first, with how often") {
  JobSeen now{.job = test_job(), .now = kTestNow};
  for (const std::string time : {"2023-11-14T22:13:10.000000Z", "2023-11-14T22:12:20.000000Z"})
    now.events.push_back(from_json<kube::Event>(R"({"metadata": {"name": "e)" + time +
                                                R"("}, "type": "Normal", "reason": "Queued",
            "note": "n", "eventTime": ")" + time +
                                                R"("})"));
  now.events.back().series = kube::EventSeries{.count = 3, .last_observed = now.events.back().time};
  CHECK_THAT(describe_text(now), Catch::EndsWith("Events:\n  60s (x3)   Normal   Queued   n\n"
                                                 "  10s        Normal   Queued   n\n"));
}

}  // namespace
}  // namespace amdahl::cli
