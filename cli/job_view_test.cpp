#include "cli/job_view.hpp"

#include "cli/gang_view.hpp"
#include "cli/job_account.hpp"
#include "cli/job_explain.hpp"
#include "cli/test_jobs.hpp"

namespace amdahl::cli {
namespace {

using Catch::Contains;

const std::string kCause = R"({"class": "UserException", "role": "Root", "domain": "Workload",
  "outlook": "CannotRecoverUnchanged", "confidence": "Confirmed", "rank": 1, "pod": "llama-2-1",
  "node": "node-b", "exitCode": 1, "message": "KeyError:\n'labels'", "hint": "Fix train.py."})";

TrainingJob running_job() {
  return test_job(
      R"({"observedGeneration": 2, "attempt": 2, "conditions": [)" +
          test_condition("Admitted", "True", "Bound") + "," +
          test_condition("Running", "True", "AllRanksStarted") +
          R"(], "workers": {"desired": 2, "created": 2, "bound": 2, "running": 2, "ready": 1},
      "progress": {"step": 1200, "totalSteps": 5000, "percent": 24, "stepSeconds": 0.52,
        "etaSeconds": 1980, "metrics": [{"name": "loss", "value": "2.31"},
                                        {"name": "lr", "value": "1e-4"}]},
      "checkpoint": {"lastCommitted": {"step": 1100, "committedAt": "2023-11-14T22:10:20Z"},
                     "stallSeconds": 0.25, "predictedPauseSeconds": 4.5,
                     "verifiedAt": "2023-11-14T22:10:20Z"},
      "budgets": {"failures": 1, "disruptions": 0, "pauses": 2},
      "attempts": [{"number": 1, "outcome": "Failed", "startedAt": "2023-11-14T21:13:20Z",
        "endedAt": "2023-11-14T21:23:20Z", "firstStep": 1, "lastStep": 300, "lostSteps": 100,
        "heldGpuSeconds": 9600, "cause": {"class": "Hang", "rank": 1}},
        {"number": 2, "startedAt": "2023-11-14T21:23:30Z", "resumedFromStep": 200}],
      "gpuSeconds": {"held": 10000, "goodput": 0.75, "phases": [
        {"name": "productive", "seconds": 7500}, {"name": "lost_work", "seconds": 2000},
        {"name": "init", "seconds": 500}, {"name": "idle", "seconds": 0}]}})",
      R"({"checkpoint": {"uri": "gs://bucket/llama"}})");
}

TrainingJob failed_job() {
  return test_job(R"({"observedGeneration": 2, "attempt": 2, "conditions": [)" +
                  test_condition("Failed", "True", "CannotRecover", "trying again is pointless") +
                  R"(], "attempts": [{"number": 2, "outcome": "Failed", "cause": )" + kCause +
                  "}]}");
}

JobSeen seen(TrainingJob job, std::vector<kube::Pod> pods = {}) {
  return {.job = std::move(job), .pods = std::move(pods), .now = kTestNow};
}

TEST_CASE("describe tells all that is known of a running job") {
  const std::string text =
      describe_text(seen(running_job(), {test_pod(2, 1, kRunningPod, "node-b"),
                                         test_pod(2, 0, kRunningPod, "node-a")}));
  CHECK(text ==
        R"(Name:         llama
Namespace:    research
Phase:        Running (AllRanksStarted)
Asked to:     run
Age:          1h
Gang:         Torchrun, 2 pods, 16 GPUs, queue default
Workers:      1 of 2 ready, 2 running, 2 with a node, 2 created
Progress:     step 1200 of 5000 (24%), 0.52 s per step, about 33m left
Metrics:      loss 2.31, lr 1e-4
Checkpoint:   step 1100, committed 3m ago, verified 3m ago, stall 0.25 s, a pause takes 4.5 s
Budgets:      failures 1 of 3, disruptions 0 of 50, pauses 2
GPU-seconds: 10000 held, 75% useful
  productive   7500   75%
  lost_work    2000   20%
  init         500    5%
Conditions:
  TYPE       STATUS   AGE   REASON            MESSAGE
  Admitted   True     60s   Bound
  Running    True     60s   AllRanksStarted
Attempts:
  NUMBER   OUTCOME   LASTED   FROM   STEPS              GPU-SECONDS   CAUSE
  1        Failed    10m             1..300, 100 lost   9600          Hang on rank 1
  2        goes on   49m50s   200                       0
Pods:
  attempt 2: 2 of 2 pods running
  |-- rank 0   llama-2-0   node-a   Running: ready
  `-- rank 1   llama-2-1   node-b   Running: ready
)");
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

TEST_CASE("describe says how often is saved, and that a checkpoint is damaged") {
  const TrainingJob job = test_job(
      R"({"conditions": [)" + test_condition("CheckpointReady", "False", "Damaged", "no sound") +
          R"(], "checkpoint": {"lastCommitted": {"step": 62}, "intervalSeconds": 416,
              "failedSaves": 2}})",
      R"({"checkpoint": {"uri": "gs://bucket/llama"}})");
  CHECK_THAT(describe_text(seen(job)),
             Contains("Checkpoint:   step 62, damaged, every 416 s; 2 saves failed"));
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

TEST_CASE("A pod's state says why it does not run and how it ended") {
  const std::pair<std::string, std::string> rows[] = {
      {R"({"phase": "Running"})", "Running: not ready"},
      {kRunningPod, "Running: ready"},
      {R"({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
           "reason": "Unschedulable"}]})",
       "Pending: Unschedulable"},
      {R"({"phase": "Pending", "containerStatuses": [{"name": "trainer",
           "state": {"waiting": {"reason": "ImagePullBackOff"}}}]})",
       "Pending: ImagePullBackOff"},
      {R"({"phase": "Failed", "containerStatuses": [{"name": "trainer",
           "state": {"terminated": {"exitCode": 137, "signal": 9, "reason": "OOMKilled"}}}]})",
       "Failed: OOMKilled, exit 137, signal 9"},
      {R"({"phase": "Failed", "reason": "Evicted"})", "Failed: Evicted"},
      {R"({"phase": "Succeeded", "containerStatuses": [{"name": "trainer",
           "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}]})",
       "Succeeded: Completed, exit 0"},
      {R"({"phase": "Running", "containerStatuses": [{"name": "trainer", "restartCount": 2,
           "state": {"waiting": {"reason": "CrashLoopBackOff"}},
           "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}}]})",
       "Running: CrashLoopBackOff, 2 restarts (last Error, exit 1)"},
  };
  for (const auto& [status, text] : rows) CHECK(pod_state(test_pod(1, 0, status)) == text);
}

TEST_CASE("A large gang shows those in trouble first, and how many more there are") {
  JobSeen many = seen(test_job(R"({"attempt": 3})"));
  for (unsigned rank = 0; rank < 100; ++rank)
    many.pods.push_back(test_pod(3, rank, rank == 99 ? R"({"phase": "Failed"})" : kRunningPod));
  many.pods.push_back(test_pod(2, 0, R"({"phase": "Failed"})", ""));
  const std::string tree = gang_tree(many);
  CHECK_THAT(tree, Catch::StartsWith("attempt 3: 99 of 100 pods running\n|-- rank 99 "));
  CHECK_THAT(tree, Contains("`-- and 36 more\n"));
  CHECK_THAT(tree, Catch::EndsWith("attempt 2: 0 of 1 pods running\n"
                                   "`-- rank 0   llama-2-0   no node   Failed\n"));
}

TEST_CASE("Only what changed is told again") {
  ChangedLines lines;
  JobSeen now = seen(running_job(), {test_pod(2, 0, kRunningPod)});
  const std::string first = lines.take(facts_of(now));
  CHECK_THAT(first, Contains("research/llama: Running (AllRanksStarted); step 1200 of 5000"));
  CHECK_THAT(first, Contains("attempt 2 rank 0 (llama-2-0 on node-a): Running: ready\n"));
  CHECK(lines.take(facts_of(now)).empty());
  now.pods = {test_pod(2, 0, R"({"phase": "Failed"})")};
  CHECK(lines.take(facts_of(now)) == "attempt 2 rank 0 (llama-2-0 on node-a): Failed\n");
  now.pods.clear();
  CHECK(lines.take(facts_of(now)).empty());
  now.events.push_back(from_json<kube::Event>(
      R"({"metadata": {"name": "e", "uid": "e"}, "type": "Warning", "reason": "RankFailed",
          "note": "rank 0\nfailed"})"));
  CHECK(lines.take(facts_of(now)) == "event: Warning RankFailed: rank 0 failed\n");
}

}  // namespace
}  // namespace amdahl::cli
