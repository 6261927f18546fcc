#include "cli/job_account.hpp"

#include "cli/test_jobs.hpp"

namespace amdahl::cli {
namespace {

using Catch::Contains;

TrainingJob running(const std::string& name, const std::string& rest) {
  TrainingJob job =
      test_job(R"({"conditions": [)" + test_condition("Running", "True", "AllRanksStarted") + "]" +
               rest + "}");
  job.metadata.name = name;
  return job;
}

TrainingJob busy() {
  return running("llama",
                 R"(, "workers": {"desired": 2, "created": 2, "bound": 2, "running": 2,
                              "ready": 2},
    "progress": {"step": 1200, "stepSeconds": 0.52,
                 "metrics": [{"name": "loss", "value": "2.31"}]},
    "gpuSeconds": {"held": 10000, "goodput": 0.75, "phases": [
      {"name": "productive", "seconds": 7500}, {"name": "lost_work", "seconds": 2000},
      {"name": "init", "seconds": 500}]})");
}

TEST_CASE("top ranks by what was wasted, and leaves out what holds nothing") {
  const TrainingJob ended =
      test_job(R"({"conditions": [)" + test_condition("Failed", "True", "CannotRecover") + "]}");
  const auto rows = top_rows({running("small", ""), ended, busy()}, kTestNow);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == "llama");
  CHECK(rows[0].gpus == 16);
  CHECK(rows[0].wasted_gpu_seconds == 2500);
  CHECK(top_text(rows, false) ==
        "NAME    PHASE     GPUS   GPU-SECONDS   USEFUL   WASTED   MOSTLY          STEP   STEPS/S   "
        "LOSS\n"
        "llama   Running   16     10.0k         75%      25%      lost_work 20%   1200   1.92      "
        "2.31\n"
        "small   Running   0      0             -        -        -               -      -         "
        "-\n");
  CHECK_THAT(top_text(rows, true),
             Catch::StartsWith("NAMESPACE   NAME ") && Contains("\nresearch    llama   Running "));
}

TEST_CASE("top calls nothing wasted that nobody accounts for", "[D8]") {
  const auto silent = running("silent", R"(, "gpuSeconds": {"held": 90000, "phases": [
      {"name": "unattributed", "seconds": 89000}, {"name": "init", "seconds": 1000}]})");
  const auto partly = running("partly", R"(, "gpuSeconds": {"held": 100, "goodput": 0.6, "phases": [
      {"name": "productive", "seconds": 60}, {"name": "unattributed", "seconds": 30},
      {"name": "init", "seconds": 10}]})");
  const auto rows = top_rows({partly, silent, busy()}, kTestNow);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].name == "llama");  // the most that is known to be wasted
  CHECK(rows[1].wasted_gpu_seconds == 1000);
  CHECK(rows[2].wasted_gpu_seconds == 10);
  const std::string text = top_text(rows, false);
  CHECK_THAT(text, Contains("silent   Running   0      90.0k         -        -        unattri"));
  CHECK_THAT(text, Contains("partly   Running   0      100           60%      10%      unattri"));
}

}  // namespace
}  // namespace amdahl::cli
