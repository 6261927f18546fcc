#include "cli/job_view.hpp"

#include "cli/gang_view.hpp"
#include "cli/job_account.hpp"
#include "cli/test_jobs.hpp"

namespace amdahl::cli {
namespace {

using Catch::Contains;

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

TEST_CASE("describe says how often is saved, and that a checkpoint is damaged") {
  const TrainingJob job = test_job(
      R"({"conditions": [)" + test_condition("CheckpointReady", "False", "Damaged", "no sound") +
          R"(], "checkpoint": {"lastCommitted": {"step": 62}, "intervalSeconds": 416,
              "failedSaves": 2}})",
      R"({"checkpoint": {"uri": "gs://bucket/llama"}})");
  CHECK_THAT(describe_text(seen(job)),
             Contains("Checkpoint:   step 62, damaged, every 416 s; 2 saves failed"));
}

TEST_CASE("Restarts of a pod's containers add up whatever the server says", "[A1]") {
  const std::string restarts = R"({"name": "a", "restartCount": 2147483647})";
  CHECK(pod_state(test_pod(1, 0,
                           R"({"phase": "Running", "containerStatuses": [)" + restarts + "," +
                               restarts + "]}")) == "Running: not ready, 4294967294 restarts");
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
