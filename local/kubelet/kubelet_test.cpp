#include "local/kubelet/kubelet.hpp"

#include "local/kubelet/test_kubelet.hpp"

namespace amdahl::local {
namespace {

Json container(const Json& pod, std::size_t index = 0) {
  return pod["status"]["containerStatuses"][index];
}
std::string condition(const Json& pod, const std::string& type) {
  for (const Json& each : pod["status"]["conditions"])
    if (each["type"] == type)
      return each["status"].get<std::string>() + " " + each.value("reason", "");
  return "(none)";
}

TEST_CASE("Kubelet registers its nodes, and says when they are gone") {
  TestKubelet bench;
  const auto node = [&](const std::string& name) {
    const auto reply = bench.send(*kube::get_request(kube::kNodes, {.ns = "", .name = name}));
    return reply.status == 200 ? Json::parse(reply.body) : Json();
  };
  REQUIRE(bench.wait(
      [&] { return node("n2").contains("status") && node("n2")["status"].contains("capacity"); }));
  const Json first = node("n1");
  CHECK(first["status"]["capacity"]["cpu"] == "4");
  CHECK(first["status"]["allocatable"]["nvidia.com/gpu"] == "4");
  CHECK(first["metadata"]["labels"]["kubernetes.io/hostname"] == "n1");
  CHECK(first["metadata"]["labels"]["zone"] == "a");
  CHECK(first["status"]["addresses"][0]["address"] == "127.0.0.1");
  CHECK(first["status"]["nodeInfo"]["kubeletVersion"] == "v1.34.0-amdahl");
  CHECK(condition(first, "Ready") == "True KubeletReady");
  CHECK_FALSE(node("n2")["status"]["capacity"].contains("nvidia.com/gpu"));
  bench.finish();
  CHECK(condition(node("n1"), "Ready") == "False KubeletStopped");
}

TEST_CASE("Kubelet runs a pod to its end, and tells everything about it") {
  for (const IsolationWish wish : isolations()) {
    TestKubelet bench(wish);
    bench.add("p", "echo hello $NAME; echo again >&2; echo last > $AMDAHL_TERMINATION_LOG; env >&2",
              {{"hostname", "box"}}, {{"env", {{{"name", "NAME"}, {"value", "world"}}}}});
    const Json pod = bench.in_phase("p", "Succeeded");
    const Json end = container(pod)["state"]["terminated"];
    CHECK(end["exitCode"] == 0);
    CHECK(end["reason"] == "Completed");
    CHECK(end["message"] == "last\n");
    CHECK(end.contains("startedAt"));
    CHECK(end.contains("finishedAt"));
    CHECK(container(pod)["containerID"].get<std::string>().starts_with("process://"));
    CHECK(pod["status"]["podIP"].get<std::string>().starts_with("127.64."));
    CHECK(pod["status"].contains("startTime"));
    CHECK(condition(pod, "Initialized") == "True PodCompleted");
    CHECK(condition(pod, "Ready") == "False PodCompleted");
    const std::string log = bench.log("p");
    CHECK(log.starts_with("hello world\nagain\n"));
    CHECK(log.contains("HOSTNAME=box\n"));
    CHECK(log.contains("KUBERNETES_SERVICE_HOST=127.0.0.1\n"));
    CHECK(log.contains("CUDA_VISIBLE_DEVICES=\n"));
    CHECK_FALSE(log.contains("hidden"));
    CHECK(bench.log("p", {.tail_lines = 0}).empty());
    CHECK(bench.log("p", {.previous = true}).contains("previous terminated container"));
    const kube::Resource events{
        .group = "events.k8s.io", .version = "v1", .plural = "events", .kind = "Event"};
    std::string told;
    REQUIRE(bench.wait([&] {
      told = bench.send(*kube::list_request(events, {})).body;
      return told.contains("ImageNotPulled") && told.contains("Started");
    }));
    CHECK(told.find("ImageNotPulled") == told.rfind("ImageNotPulled"));
    bench.remove("p");
    CHECK(bench.gone("p"));
    CHECK(bench.wait([&] { return std::filesystem::is_empty(bench.folder.file("pods")); }));
  }
}

TEST_CASE("Kubelet ends a deleted pod by its grace, and takes it from the API then") {
  for (const IsolationWish wish : isolations()) {
    TestKubelet bench(wish);
    bench.add("soft", "trap 'echo asked; exit 0' TERM; echo up; while :; do sleep 0.02; done");
    const std::string asked = bench.folder.file("asked");  // the log goes with the pod
    bench.add("hard", fmt::format("trap 'echo asked >{}' TERM; echo up; setsid sleep 1000 & "
                                  "while :; do sleep 0.02; done",
                                  asked));
    bench.add("force", "trap '' TERM; echo up; sleep 1000");
    for (const char* name : {"soft", "hard", "force"}) {
      bench.in_phase(name, "Running");
      REQUIRE(bench.wait([&] { return bench.log(name) == "up\n"; }));
    }
    CHECK(condition(bench.pod("soft"), "Ready") == "True ");
    bench.remove("soft");
    CHECK(bench.gone("soft"));
    bench.remove("hard", {.grace_seconds = 3});
    CHECK(bench.wait([&] { return std::filesystem::exists(asked); }));
    CHECK(bench.gone("hard"));
    const std::size_t before = bench.left();
    CHECK(before > 0);
    bench.remove("force", {.grace_seconds = 0});
    CHECK(bench.pod("force").is_null());
    CHECK(bench.wait([&] { return bench.left() == 0; }));
    CHECK(bench.wait([&] { return std::filesystem::is_empty(bench.folder.file("pods")); }));
  }
}

TEST_CASE("Kubelet restarts what fails, and keeps the log of the run before") {
  TestKubelet bench;
  bench.add("p", "echo run; test -e again || { touch again; exit 4; }; echo well; sleep 1000",
            {{"restartPolicy", "OnFailure"}});
  REQUIRE(bench.wait([&] { return bench.log("p") == "run\nwell\n"; }));
  CHECK(bench.log("p", {.previous = true}) == "run\n");
  REQUIRE(bench.wait([&] { return container(bench.pod("p"))["restartCount"] == 1; }));
  const Json pod = bench.in_phase("p", "Running");
  CHECK(container(pod)["lastState"]["terminated"]["exitCode"] == 4);
  CHECK(container(pod)["ready"] == true);
}

TEST_CASE("Kubelet says why a pod does not start, and starts it when it can") {
  TestKubelet bench;
  bench.add(
      "p", "echo $V", {},
      {{"env",
        {{{"name", "V"}, {"valueFrom", {{"configMapKeyRef", {{"name", "m"}, {"key", "k"}}}}}}}}});
  bench.add_pod("bare", {{"nodeName", "n1"}, {"containers", {{{"name", "c"}, {"image", "x"}}}}});
  bench.add("lost", "true", {}, {{"workingDir", "/no/such"}});
  const auto waiting = [&](const std::string& name) {
    const Json pod = bench.pod(name);
    return pod["status"].contains("containerStatuses")
               ? container(pod)["state"].value("waiting", Json::object())
               : Json::object();
  };
  REQUIRE(
      bench.wait([&] { return waiting("p").value("reason", "") == "CreateContainerConfigError"; }));
  CHECK(waiting("p")["message"] == "env V: configmap \"m\" not found");
  REQUIRE(
      bench.wait([&] { return waiting("bare").value("reason", "") == "CreateContainerError"; }));
  CHECK(waiting("bare")["message"].get<std::string>().contains("no command"));
  const Json lost = bench.in_phase("lost", "Failed");
  CHECK(container(lost)["state"]["terminated"]["reason"] == "StartError");
  CHECK(container(lost)["state"]["terminated"]["message"].get<std::string>().contains("/no/such"));
  CHECK(bench.log("bare").contains("is waiting to start"));
  REQUIRE(
      bench
          .create(kube::kConfigMaps, "default", R"({"metadata":{"name":"m"},"data":{"k":"value"}})")
          .status == 201);
  bench.in_phase("p", "Succeeded");
  CHECK(bench.log("p") == "value\n");
}

TEST_CASE("Kubelet runs init containers in order, and falls back to the log for last words") {
  TestKubelet bench;
  bench.add_pod("p", {{"nodeName", "n2"},
                      {"restartPolicy", "Never"},
                      {"volumes", {{{"name", "v"}, {"emptyDir", Json::object()}}}},
                      {"initContainers",
                       {{{"name", "i"}, {"image", "x"}, {"command", {"sh", "-c", "echo first"}}},
                        {{"name", "j"}, {"image", "x"}, {"command", {"sh", "-c", "echo second"}}}}},
                      {"containers",
                       {{{"name", "c"},
                         {"image", "x"},
                         {"terminationMessagePolicy", "FallbackToLogsOnError"},
                         {"command", {"sh", "-c", "echo reason; exit 9"}}}}}});
  const Json pod = bench.in_phase("p", "Failed");
  const Json& inits = pod["status"]["initContainerStatuses"];
  CHECK(inits[0]["state"]["terminated"]["finishedAt"] <=
        inits[1]["state"]["terminated"]["startedAt"]);
  CHECK(bench.log("p", {.container = "j"}) == "second\n");
  CHECK(container(pod)["state"]["terminated"]["message"] == "reason\n");
  CHECK(container(pod)["state"]["terminated"]["exitCode"] == 9);
}

TEST_CASE("Kubelet gives each container GPU slots of its own") {
  TestKubelet bench;
  const Json two = {{"resources", {{"limits", {{"nvidia.com/gpu", 2}}}}}};
  bench.add("a", "echo gpus $CUDA_VISIBLE_DEVICES; sleep 1000", {}, two);
  bench.add("b", "echo gpus $CUDA_VISIBLE_DEVICES; sleep 1000", {}, two);
  REQUIRE(bench.wait([&] {
    return !bench.log("a").starts_with("(") && !bench.log("b").starts_with("(") &&
           !bench.log("a").empty() && !bench.log("b").empty();
  }));
  CHECK(std::set<std::string>{bench.log("a"), bench.log("b")} ==
        std::set<std::string>{"gpus 0,1\n", "gpus 2,3\n"});
  bench.add("c", "true", {}, {{"resources", {{"limits", {{"nvidia.com/gpu", 1}}}}}});
  const Json refused = bench.in_phase("c", "Failed");
  CHECK(refused["status"]["reason"] == "OutOfnvidia.com/gpu");
  const std::string uid = bench.pod("a")["metadata"]["uid"];
  bench.remove("a", {.grace_seconds = 0});
  REQUIRE(bench.wait([&] { return !std::filesystem::exists(bench.folder.file("pods/" + uid)); }));
  bench.add("d", "echo gpus $CUDA_VISIBLE_DEVICES", {}, two);
  bench.in_phase("d", "Succeeded");
}

TEST_CASE("Kubelet: a pod waits for GPUs that a killed one is about to leave") {
  for (const IsolationWish wish : isolations()) {
    TestKubelet bench(wish);
    const Json four = {{"resources", {{"limits", {{"nvidia.com/gpu", 4}}}}}};
    for (int round = 0; round < 5; ++round) {
      const std::string name = fmt::format("p{}", round);
      bench.add(name, "trap '' TERM; echo $CUDA_VISIBLE_DEVICES; sleep 1000", {}, four);
      bench.in_phase(name, "Running");
      REQUIRE(bench.wait([&] { return bench.log(name) == "0,1,2,3\n"; }));
      // Both at once: the next one comes before the processes of this one are gone.
      bench.remove(name, {.grace_seconds = 0});
    }
  }
}

TEST_CASE("Kubelet clears pods of a node that is not there any more") {
  TestKubelet bench;
  bench.add("stays", "sleep 1000", {{"restartPolicy", "Always"}});
  bench.add("goes", "sleep 1000", {{"nodeName", "n2"}, {"restartPolicy", "Always"}});
  const kube::Resource nodes = kube::kNodes;
  REQUIRE(bench.create(nodes, "", R"({"metadata":{"name":"foreign"}})").status == 201);
  bench.add("foreign", "true", {{"nodeName", "foreign"}});
  bench.in_phase("stays", "Running");
  bench.in_phase("goes", "Running");
  bench.finish();
  bench.nodes.pop_back();
  bench.begin();
  CHECK(bench.gone("goes"));
  REQUIRE(bench.wait([&] { return container(bench.pod("stays"))["restartCount"] == 1; }));
  CHECK(bench.pod("foreign")["status"]["phase"] == "Pending");
}

TEST_CASE("Kubelet stops a pod within its own grace, however long it may take itself") {
  TestKubelet bench;
  for (const char* name : {"short", "forever"})
    bench.add(name, "trap '' TERM; echo up; while :; do sleep 0.05; done",
              {{"terminationGracePeriodSeconds",
                name == std::string("short") ? 0 : std::numeric_limits<std::int64_t>::max()}});
  for (const char* name : {"short", "forever"}) {
    bench.in_phase(name, "Running");
    REQUIRE(bench.wait([&] { return bench.log(name) == "up\n"; }));
  }
  bench.remove("forever", {.grace_seconds = 0});
  constexpr int kFoldersOfOnePod = 2;  // its own, and the one for temporary files
  CHECK(bench.wait([&] {
    return std::ranges::distance(std::filesystem::directory_iterator(bench.folder.file("pods"))) ==
           kFoldersOfOnePod;
  }));
  const Monotonic begin = bench.clock.monotonic();
  bench.finish(std::chrono::seconds{30});
  CHECK(bench.clock.monotonic() - begin < std::chrono::seconds{10});
}

TEST_CASE("Kubelet reports OOMKilled for a container over its memory limit") {
  // With cgroups where this user may make them; without, the memory is watched.
  constexpr std::pair<IsolationWish, bool> kWays[] = {{IsolationWish::kBest, false},
                                                      {IsolationWish::kPlain, false},
                                                      {IsolationWish::kBest, true},
                                                      {IsolationWish::kPlain, true}};
  for (const auto& [wish, cgroups] : kWays) {
    INFO("plain " << (wish == IsolationWish::kPlain) << ", cgroups " << cgroups);
    TestKubelet bench(wish, cgroups);
    bench.add("p", "x=$(head -c 200000000 /dev/zero | tr '\\0' x); sleep 1000", {},
              {{"resources", {{"limits", {{"memory", "64Mi"}}}}}});
    const Json pod = bench.in_phase("p", "Failed");
    CHECK(container(pod)["state"]["terminated"]["reason"] == "OOMKilled");
    CHECK(container(pod)["state"]["terminated"]["exitCode"] == 137);
  }
}

TEST_CASE("Kubelet finds its pods again after a stop: failed or restarted by their policy") {
  TestKubelet bench;
  bench.add("once", "echo one; sleep 1000");
  bench.add("ever", "echo one; sleep 1000", {{"restartPolicy", "Always"}});
  bench.in_phase("once", "Running");
  bench.in_phase("ever", "Running");
  const std::string address = bench.pod("ever")["status"]["podIP"];
  bench.finish();
  CHECK(bench.pod("once")["status"]["phase"] == "Running");
  bench.begin();
  const Json once = bench.in_phase("once", "Failed");
  CHECK(container(once)["state"]["terminated"]["reason"] == "ContainerStatusUnknown");
  CHECK(bench.log("once") == "one\n");
  REQUIRE(bench.wait([&] { return container(bench.pod("ever"))["restartCount"] == 1; }));
  CHECK(bench.in_phase("ever", "Running")["status"]["podIP"] == address);
}

}  // namespace
}  // namespace amdahl::local
