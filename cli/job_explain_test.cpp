#include "cli/job_explain.hpp"

#include <algorithm>

#include "cli/job_account.hpp"
#include "cli/job_view.hpp"
#include "cli/test_jobs.hpp"

namespace amdahl::cli {
namespace {

using Catch::Contains;

const std::string kCause = R"({"class": "UserException", "role": "Root", "domain": "Workload",
  "outlook": "CannotRecoverUnchanged", "confidence": "Confirmed", "rank": 1, "pod": "llama-2-1",
  "node": "node-b", "exitCode": 1, "message": "KeyError:\n'labels'", "hint": "Fix train.py."})";

TrainingJob failed_job() {
  return test_job(R"({"observedGeneration": 2, "attempt": 2, "conditions": [)" +
                  test_condition("Failed", "True", "CannotRecover", "trying again is pointless") +
                  R"(], "attempts": [{"number": 2, "outcome": "Failed", "cause": )" + kCause +
                  "}]}");
}

TEST_CASE("A failed job is explained with its cause, the evidence and what to do") {
  const Explanation told =
      explain(seen(failed_job(), {test_pod(2, 1, R"({"phase": "Failed"})", "node-b")}));
  CHECK(explanation_text(told) ==
        R"(Job:         research/llama
Phase:       Failed (CannotRecover)
Summary:     it failed for good (CannotRecover), after 2 attempts
Cause:       UserException on rank 1 (pod llama-2-1), node node-b, exit code 1
Means:       The script ended with an exception.
Attempt:     2
Role:        Root, of the Workload domain
Certainty:   confirmed: the platform says so
Outlook:     the same again will fail the same way
Evidence:    trying again is pointless
Evidence:    KeyError: 'labels'
Next:        Fix train.py.
Next:        amdahl logs llama-2-1 -n research
Next:        amdahl rerun llama -n research
)");
}

TEST_CASE("The log of a rank whose pod is gone is offered by its attempt and rank", "[D9][D10]") {
  TrainingJob job = failed_job();
  const Explanation gone = explain(seen(job));
  CHECK(gone.next == std::vector<std::string>{"Fix train.py.",
                                              "amdahl logs llama --attempt 2 --rank 1 -n research",
                                              "amdahl rerun llama -n research"});
  job.status.attempts.back().cause->rank.reset();  // nobody knows whose log would tell
  CHECK(explain(seen(job)).next ==
        std::vector<std::string>{"Fix train.py.", "amdahl rerun llama -n research"});
}

TEST_CASE("describe and diagnose say that saves fail, and why, until one is committed", "[D2]") {
  const std::string failed =
      R"("failedSaves": 2, "lastFailedSave": {"message": "No space left on device",
         "at": "2026-01-02T03:04:05Z"})";
  const auto job = [&](const std::string& more) {
    return test_job(R"({"conditions": [)" + test_condition("Running", "True", "AllRanksStarted") +
                        R"(], "checkpoint": {)" + failed + more + "}}",
                    R"({"checkpoint": {"uri": "file:///data"}})");
  };
  const TrainingJob never = job("");
  const std::string why = "2 saves failed, the last because: No space left on device";
  CHECK_THAT(describe_text(seen(never)), Contains("none committed yet, to file:///data; " + why));
  CHECK(explain(seen(never)).trouble);
  CHECK(explain(seen(never)).summary == "it runs, but its checkpoints cannot be written");
  CHECK(explain(seen(never)).evidence == std::vector<std::string>{why});
  const auto committed = [](const std::string& second) {
    return R"(, "lastCommitted": {"step": 7, "committedAt": "2026-01-02T03:04:)" + second +
           R"(Z"})";
  };
  CHECK(explain(seen(job(committed("04")))).trouble);
  CHECK_FALSE(explain(seen(job(committed("06")))).trouble);
}

TEST_CASE("Failed saves are told in every phase, and without a checkpoint.uri", "[D2]") {
  struct Row {
    std::string condition;
    bool trouble;
  };
  const Row rows[] = {
      {test_condition("Admitted", "False", "Queued"), true},
      {test_condition("Admitted", "True", "Bound"), true},
      {test_condition("Running", "True", "AllRanksStarted"), true},
      {test_condition("Running", "False", "Restarting"), true},
      {test_condition("Suspended", "False", "Pausing"), true},
      {test_condition("Suspended", "True", "Paused"), true},
      {test_condition("Failed", "True", "FailureBudgetSpent"), true},
      {test_condition("Succeeded", "True", "Completed"), false},
      {test_condition("Cancelled", "True", "CancelRequested"), false},
  };
  const std::string why = "1 save failed, the last because: No space left on device";
  for (const Row& row : rows) {
    const TrainingJob job =
        test_job(R"({"observedGeneration": 2, "attempt": 1, "conditions": [)" + row.condition +
                 R"(], "checkpoint": {"failedSaves": 1, "lastFailedSave": {
            "message": "No space left on device", "at": "2026-01-02T03:04:05Z"}}})");
    const Explanation told = explain(seen(job));
    INFO(told.phase);
    CHECK(std::ranges::count(told.evidence, why) == 1);
    CHECK(told.trouble == row.trouble);
    CHECK_THAT(explanation_text(told), Contains("see that the trainer can write its checkpoints"));
    CHECK_THAT(describe_text(seen(job)), Contains("No space left on device"));
  }
}

TEST_CASE("A job whose steps nobody understood is told of job.step(), once", "[D8]") {
  const TrainingJob job = test_job(R"({"observedGeneration": 2, "attempt": 1, "conditions": [)" +
                                   test_condition("Running", "True", "AllRanksStarted") +
                                   R"(], "progress": {"source": "Unknown"}})");
  CHECK_THAT(explanation_text(explain(seen(job))),
             Contains("\nNext:      no step was understood in the log so far; call job.step()"));
  const std::string text = describe_text(seen(job));
  CHECK_THAT(text, Contains("Progress:     unknown: no step was understood"));
  CHECK(text.find("job.step()") == text.rfind("job.step()"));
  CHECK(explain(seen(running_job())).next.empty());
  // It may have failed before its first step.
  const TrainingJob failed = test_job(R"({"observedGeneration": 2, "attempt": 1, "conditions": [)" +
                                      test_condition("Failed", "True", "CannotRecover") +
                                      R"(], "progress": {"source": "Unknown"}})");
  CHECK(explanation_text(explain(seen(failed))).find("job.step()") == std::string::npos);
}

TEST_CASE("Every phase has a summary, and trouble is marked") {
  struct Row {
    std::string conditions;
    std::string more;  // of the status
    std::string spec;
    bool trouble;
    std::string summary;
    std::string evidence;
  };
  const Row rows[] = {
      {"", "", "{}", true, "no operator has looked at it yet", ""},
      {test_condition("Admitted", "False", "Queued"),
       R"("pending": {"reason": "QueueFull", "message": "16 asked, 8 of 20 used"})",
       R"({"deadlines": {"queue": "2h"}})", true, "the gang waits for its nodes",
       "QueueFull: 16 asked, 8 of 20 used"},
      {test_condition("Admitted", "False", "PodsRefused", "forbidden by quota"), R"("attempt": 1)",
       "{}", true, "nothing of the gang exists yet", "PodsRefused: forbidden by quota"},
      {test_condition("Running", "False", "Restarting"),
       R"("pending": {"reason": "CheckpointDamaged", "message": "no sound checkpoint: 62 is bad"})",
       "{}", true, "it cannot use the checkpoints at its checkpoint.uri, so it asks for no GPUs",
       "no sound checkpoint: 62 is bad"},
      {test_condition("Admitted", "True", "Bound"),
       R"("workers": {"desired": 2, "created": 2, "bound": 2, "running": 1, "ready": 1})", "{}",
       true, "all pods have a node; 1 of 2 ranks have started", ""},
      {test_condition("Running", "True", "AllRanksStarted"), R"("attempt": 1)", "{}", false,
       "it runs; nothing is wrong", ""},
      {test_condition("Running", "True", "AllRanksStarted") + "," +
           test_condition("Suspended", "False", "PauseRefused", "no checkpoint in time"),
       R"("attempt": 1)", "{}", true, "it was asked to pause and runs on", "no checkpoint in time"},
      {test_condition("Running", "False", "Restarting"),
       R"("attempts": [{"number": 1, "outcome": "Failed", "cause": )" + kCause + "}]", "{}", true,
       "an attempt has ended, and the next one begins soon", "KeyError: 'labels'"},
      {test_condition("Suspended", "False", "Pausing"),
       R"("pause": {"message": "waiting for a checkpoint"})", "{}", false,
       "a pause was asked for and is not done yet", "not done yet: waiting for a checkpoint"},
      {test_condition("Suspended", "True", "Paused"),
       R"("pause": {"outcome": "Committed", "step": 7})", "{}", false,
       "it is paused: all pods are deleted", "checkpoint at step 7 is committed"},
      {test_condition("Succeeded", "True", "Completed"), R"("attempt": 1)", "{}", false,
       "it is done, after 1 attempt", ""},
      {test_condition("Cancelled", "True", "CancelRequested"),
       R"("cancel": {"requestedBy": "ann", "lastStep": 9})", "{}", false, "it was cancelled by ann",
       "the last step was 9"},
  };
  for (const Row& row : rows) {
    const std::string observed = row.conditions.empty() ? "" : R"("observedGeneration": 2,)";
    const TrainingJob job = test_job("{" + observed + R"("conditions": [)" + row.conditions + "]" +
                                         (row.more.empty() ? "" : "," + row.more) + "}",
                                     row.spec);
    const Explanation told = explain(seen(job));
    INFO(told.phase);
    CHECK(told.summary == row.summary);
    CHECK(told.trouble == row.trouble);
    CHECK((told.evidence.empty() ? "" : told.evidence.front()) == row.evidence);
    CHECK_THAT(describe_text(seen(job)), Contains("Phase:        " + told.phase));
    CHECK_THAT(live_view(seen(job)), Contains("research/llama: " + told.phase));
  }
}

TEST_CASE("A silent job shows how long, and no speed", "[D11]") {
  TrainingJob job = running_job();
  job.status.progress->last_step_at = kTestNow - std::chrono::minutes{6};
  CHECK(progress_text(seen(job)) == "step 1200 of 5000 (24%), no step for 6m");
  const Explanation told = explain(seen(job));
  CHECK(told.trouble);
  CHECK(told.summary == "it runs, and there was no step for 6m");
  CHECK_THAT(top_text(top_rows({job}, kTestNow), false),
             Contains("  1200   no step for 6m   2.31"));
  job.status.progress->last_step_at = kTestNow - std::chrono::seconds{30};
  CHECK_THAT(progress_text(seen(job)), Contains("0.52 s per step, about 33m left"));
  // Steps that are known to be slow get more time.
  job.status.progress->step_seconds = 120;
  job.status.progress->last_step_at = kTestNow - std::chrono::minutes{6};
  CHECK_THAT(progress_text(seen(job)), Contains("120 s per step"));
  job.status.conditions = failed_job().status.conditions;
  CHECK_FALSE(progress_text(seen(job)).contains("left"));
}

}  // namespace
}  // namespace amdahl::cli
