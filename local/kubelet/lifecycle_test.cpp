#include "local/kubelet/lifecycle.hpp"

#include <algorithm>

#include "local/kubelet/pod_status.hpp"
#include "local/kubelet/test_pods.hpp"

namespace amdahl::local {
namespace {

// A pod that is lived through by hand.
struct Story {
  explicit Story(const std::string& spec) : pod(pod_of(spec)), life(adopt(pod, at(0))) {
    life.started = at(0);
    life.address = "127.64.0.1";
  }
  std::string started() const {
    std::string names;
    for (const std::size_t index : plan.start)
      names += (names.empty() ? "" : " ") + life.containers[index].status.name;
    return names;
  }
  // Decides, and starts what it says.
  std::string step(int second) {
    now = second;
    plan = decide(pod, life, at(now));
    for (const std::size_t index : plan.start) note_start(life.containers[index], "id", at(now));
    if (plan.kill_at) life.kill_at = plan.kill_at;
    if (!plan.reason.empty()) life.reason = plan.reason;
    return started();
  }
  void end(const std::string& name, ProgramEnd how, int second) {
    const auto found = std::ranges::find(
        life.containers, name, [](const ContainerLife& life) { return life.status.name; });
    REQUIRE(found != life.containers.end());
    REQUIRE(found->active);
    const WallTime started = found->status.state.running->started;
    now = second;
    note_end(*found, terminated(how, started, at(now), ""));
  }
  PodStatus status() const { return pod_status(pod, life, at(now)); }
  std::string phase() const { return status().phase; }

  Pod pod;
  PodLife life;
  PodPlan plan = {};
  int now = 0;
};

std::string one(const std::string& policy, const std::string& more = "") {
  return R"({"restartPolicy":")" + policy + R"(","containers":[{"name":"c"}])" + more + "}";
}

std::string condition(const PodStatus& status, const std::string& type) {
  const auto found = std::ranges::find(status.conditions, type, &PodCondition::type);
  if (found == status.conditions.end()) return "(none)";
  return fmt::format("{} {}", enum_name(found->status), found->reason);
}

TEST_CASE("lifecycle: the restart policy decides what an exit means") {
  struct Row {
    const char* policy;
    int exit_code;
    const char* next;
    const char* phase;
  };
  for (const Row& row : std::vector<Row>{{"Never", 0, "", "Succeeded"},
                                         {"Never", 3, "", "Failed"},
                                         {"OnFailure", 0, "", "Succeeded"},
                                         {"OnFailure", 3, "c", "Running"},
                                         {"Always", 0, "c", "Running"},
                                         {"Always", 3, "c", "Running"}}) {
    INFO(row.policy << " " << row.exit_code);
    Story story(one(row.policy));
    CHECK(story.phase() == "Pending");
    CHECK(story.step(0) == "c");
    CHECK(story.phase() == "Running");
    story.end("c", {.exit_code = row.exit_code}, 5);
    CHECK(story.step(5) == row.next);
    CHECK(story.phase() == row.phase);
    CHECK(story.plan.over == (*row.next == '\0'));
  }
}

TEST_CASE("lifecycle: restarts back off 10 s, doubled to 5 min, and a long run clears that") {
  Story story(one("Always"));
  REQUIRE(story.step(0) == "c");
  int now = 1;
  story.end("c", {.exit_code = 1}, now);
  CHECK(story.step(now) == "c");  // the first one comes at once
  for (const int delay : {10, 20, 40, 80, 160, 300, 300}) {
    story.end("c", {.exit_code = 1}, now);
    CHECK(story.step(now + delay - 1) == "");
    REQUIRE(story.plan.wake == at(now + delay));
    CHECK(story.status().containers[0].state.waiting->reason == "CrashLoopBackOff");
    CHECK(story.status().containers[0].last_state.terminated->exit_code == 1);
    CHECK(story.phase() == "Running");
    now += delay;
    CHECK(story.step(now) == "c");
  }
  CHECK(story.status().containers[0].restarts == 8);
  now += 600;
  story.end("c", {.exit_code = 1}, now);
  CHECK(story.step(now) == "c");
}

TEST_CASE("lifecycle: init containers run one after the other, before the rest") {
  Story story(R"({"restartPolicy":"OnFailure","initContainers":[{"name":"i"},{"name":"j"}],
                  "containers":[{"name":"c"},{"name":"d"}]})");
  CHECK(story.step(0) == "i");
  CHECK(condition(story.status(), "Initialized") == "False ContainersNotInitialized");
  CHECK(story.step(1) == "");
  story.end("i", {.exit_code = 1}, 2);
  CHECK(story.step(2) == "i");  // fails once, and is tried again
  CHECK(story.phase() == "Pending");
  story.end("i", {}, 3);
  CHECK(story.step(3) == "j");
  CHECK(story.status().containers[0].state.waiting->reason == "PodInitializing");
  story.end("j", {}, 4);
  CHECK(story.step(4) == "c d");
  CHECK(condition(story.status(), "Initialized") == "True ");
  CHECK(condition(story.status(), "Ready") == "True ");
  CHECK(story.status().init_containers[0].ready);
  story.end("c", {}, 5);
  CHECK(story.phase() == "Running");
  CHECK(condition(story.status(), "Ready") == "False ContainersNotReady");
  story.end("d", {}, 6);
  story.step(6);
  CHECK(story.phase() == "Succeeded");
  CHECK(condition(story.status(), "Ready") == "False PodCompleted");
}

TEST_CASE("lifecycle: a pod whose init container failed for good has failed") {
  Story story(
      R"({"restartPolicy":"Never","initContainers":[{"name":"i"}],"containers":[{"name":"c"}]})");
  CHECK(story.step(0) == "i");
  story.end("i", {.exit_code = 1}, 1);
  CHECK(story.step(1) == "");
  CHECK(story.plan.over);
  CHECK(story.phase() == "Failed");
}

TEST_CASE("lifecycle: a sidecar starts first, is restarted, and goes when the others are done") {
  Story story(R"({"restartPolicy":"Never","initContainers":[{"name":"s","restartPolicy":"Always"},
                  {"name":"i"}],"containers":[{"name":"c"}]})");
  CHECK(story.step(0) == "s");
  CHECK(story.step(1) == "i");
  story.end("i", {}, 2);
  CHECK(story.step(2) == "c");
  story.end("s", {.exit_code = 1}, 3);
  CHECK(story.step(3) == "s");
  CHECK(story.phase() == "Running");
  story.end("c", {}, 4);
  CHECK(story.step(4) == "");
  CHECK(story.plan.terminate == std::vector<std::size_t>{0});
  CHECK_FALSE(story.plan.over);
  story.end("s", {.signal = 15}, 5);
  story.step(5);
  CHECK(story.plan.over);
  CHECK(story.phase() == "Succeeded");
}

TEST_CASE("lifecycle: a deleted pod gets SIGTERM, and SIGKILL when its time is up") {
  Story story(one("Always"));
  story.step(0);
  story.pod.metadata.deleted = at(40);
  CHECK(story.step(10) == "");
  CHECK(story.plan.terminate == std::vector<std::size_t>{0});
  CHECK(story.plan.wake == at(40));
  story.step(20);
  CHECK(story.plan.terminate.empty());  // once
  story.pod.metadata.deleted = at(25);  // a second delete with a shorter grace
  story.step(20);
  CHECK(story.plan.wake == at(25));
  story.step(25);
  CHECK(story.plan.kill);
  story.end("c", {.signal = 9}, 26);
  story.step(26);
  CHECK(story.plan.over);
  CHECK(story.phase() == "Failed");
  CHECK(story.status().containers[0].state.terminated->exit_code == 137);
}

TEST_CASE("lifecycle: activeDeadlineSeconds ends a pod that is too slow") {
  Story story(one("Always", R"(,"activeDeadlineSeconds":60,"terminationGracePeriodSeconds":5)"));
  story.step(0);
  CHECK(story.plan.wake == at(60));
  story.step(60);
  CHECK(story.plan.reason == "DeadlineExceeded");
  CHECK(story.plan.terminate == std::vector<std::size_t>{0});
  CHECK(story.phase() == "Failed");
  story.step(65);
  CHECK(story.plan.kill);
  story.end("c", {.signal = 9}, 65);
  story.step(65);
  CHECK(story.plan.over);
}

TEST_CASE("lifecycle: what ran when the kubelet died is found ended, with the reason") {
  for (const std::string policy : {"Never", "OnFailure"}) {
    INFO(policy);
    const Pod pod = pod_of(one(policy), R"({"phase":"Running","startTime":"2027-01-15T08:00:00Z",
      "podIP":"127.64.0.9","containerStatuses":[{"name":"c","restartCount":2,"ready":true,
      "image":"x","imageID":"","state":{"running":{"startedAt":"2027-01-15T08:00:00Z"}}}]})");
    PodLife life = adopt(pod, at(100));
    const auto& end = life.containers[0].status.state.terminated;
    REQUIRE(end);
    CHECK(end->reason == "ContainerStatusUnknown");
    CHECK(end->exit_code == 137);
    CHECK(life.address == "127.64.0.9");
    const PodPlan plan = decide(pod, life, at(100));
    CHECK(plan.start.empty() == (policy == "Never"));
    CHECK(pod_status(pod, life, at(100)).phase == (policy == "Never" ? "Failed" : "Running"));
    note_start(life.containers[0], "id", at(101));
    CHECK(life.containers[0].status.restarts == 3);
  }
}

TEST_CASE("lifecycle: a pod that is over stays as it was") {
  const Pod pod = pod_of(one("Always"), R"({"phase":"Failed","reason":"Evicted"})");
  const PodLife life = adopt(pod, at(0));
  const PodPlan plan = decide(pod, life, at(0));
  CHECK(plan.over);
  CHECK(plan.start.empty());
}

TEST_CASE("pod_status() keeps the times of conditions, and conditions of others") {
  Story story(one("Never"));
  story.pod.status.conditions = {
      {.type = "PodScheduled", .status = kube::ConditionStatus::kTrue, .changed = at(-5)}};
  story.step(1);
  story.pod.status = story.status();
  CHECK(condition(story.pod.status, "PodScheduled") == "True ");
  story.now = 50;
  const PodStatus later = story.status();
  CHECK(later == story.pod.status);
  story.end("c", {}, 60);
  const PodStatus after = story.status();
  for (const PodCondition& each : after.conditions) {
    INFO(each.type);
    const bool moved = each.type.contains("Ready");
    CHECK(each.changed == (each.type == "PodScheduled" ? at(-5) : moved ? at(60) : at(1)));
  }
}

TEST_CASE("terminated() maps exits, signals, memory and programs that cannot start") {
  struct Row {
    ProgramEnd end;
    int code;
    int signal;
    const char* reason;
  };
  for (const Row& row :
       std::vector<Row>{{{}, 0, 0, "Completed"},
                        {{.exit_code = 3}, 3, 0, "Error"},
                        {{.signal = 15}, 143, 15, "Error"},
                        {{.signal = 9, .out_of_memory = true}, 137, 0, "OOMKilled"},
                        {{.start_problem = "no"}, 128, 0, "StartError"}}) {
    INFO(row.reason << row.code);
    const Terminated end = terminated(row.end, at(0), at(1), "m");
    CHECK(end.exit_code == row.code);
    CHECK(end.signal == row.signal);
    CHECK(end.reason == row.reason);
    CHECK(end.message == (row.end.start_problem.empty() ? "m" : "no"));
  }
}

}  // namespace
}  // namespace amdahl::local
