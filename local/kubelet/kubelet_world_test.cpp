// Pods and the world around them: volumes, names, tokens, and the death of the kubelet.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "local/kubelet/pod_folder.hpp"
#include "local/kubelet/test_kubelet.hpp"

namespace amdahl::local {
namespace {

bool has_namespaces(TestKubelet& bench) {
  return run_until_complete(bench.io,
                            detect_isolation(AMDAHL_SHIM, IsolationWish::kBest, bench.clock))
      .namespaces;
}

const kube::Resource kSecrets{.version = "v1", .plural = "secrets", .kind = "Secret"};
const kube::Resource kAccounts{
    .version = "v1", .plural = "serviceaccounts", .kind = "ServiceAccount"};

TEST_CASE("Kubelet mounts volumes where a container wants them") {
  TestKubelet bench;
  if (!has_namespaces(bench)) {
    WARN("no namespaces here: nothing can be mounted");
    return;
  }
  REQUIRE(bench
              .create(kube::kConfigMaps, "default",
                      R"({"metadata":{"name":"m"},"data":{"k":"from map"}})")
              .status == 201);
  REQUIRE(bench
              .create(kSecrets, "default",
                      R"({"metadata":{"name":"s"},"stringData":{"k":"from secret"}})")
              .status == 201);
  REQUIRE(bench.create(kAccounts, "default", R"({"metadata":{"name":"default"}})").status == 201);
  bench.folder.write("shared/host", "from host");
  const Json volumes = Json::parse(R"([{"name":"m","configMap":{"name":"m"}},
    {"name":"s","secret":{"secretName":"s","defaultMode":256}},{"name":"e","emptyDir":{}},
    {"name":"d","downwardAPI":{"items":[{"path":"name","fieldRef":{"fieldPath":"metadata.name"}}]}},
    {"name":"t","projected":{"sources":[{"serviceAccountToken":{"path":"token","audience":"x"}}]}}])");
  Json all = volumes;
  all.push_back({{"name", "h"}, {"hostPath", {{"path", bench.folder.file("shared")}}}});
  const Json mounts = Json::parse(R"([{"name":"m","mountPath":"/etc/map"},
    {"name":"s","mountPath":"/secret/deep"},{"name":"e","mountPath":"/data","subPath":"sub"},
    {"name":"d","mountPath":"/down"},{"name":"t","mountPath":"/tokens"},
    {"name":"h","mountPath":"/host","readOnly":true}])");
  bench.add("p",
            "cat /etc/map/k /secret/deep/k /down/name /host/host; echo; echo x > /data/x; "
            "stat -L -c %a /secret/deep/k; test -s /tokens/token && echo token; "
            "cat /var/run/secrets/kubernetes.io/serviceaccount/namespace; echo; "
            "test -s /run/secrets/kubernetes.io/serviceaccount/token && echo account; "
            "echo y > /host/y || echo read-only; echo bye > /dev/termination-log",
            {{"volumes", all}, {"serviceAccountName", "default"}}, {{"volumeMounts", mounts}});
  const Json pod = bench.in_phase("p", "Succeeded");
  CHECK(
      bench.log("p").starts_with("from mapfrom secretpfrom host\n400\ntoken\ndefault\naccount\n"));
  CHECK(bench.log("p").ends_with("read-only\n"));
  CHECK(pod["status"]["containerStatuses"][0]["state"]["terminated"]["message"] == "bye\n");
  const std::string uid = pod["metadata"]["uid"];
  CHECK(text_of(bench.folder.file("pods/" + uid + "/volumes/e/sub/x")) == "x\n");
  CHECK_FALSE(std::filesystem::exists("/secret/deep"));
}

TEST_CASE("Kubelet removes the temporary files of a pod with the pod, also when it was killed") {
  for (const IsolationWish wish : isolations()) {
    INFO("plain " << (wish == IsolationWish::kPlain));
    TestKubelet bench(wish);
    const auto folders = [&] {
      std::size_t count = 0;
      for (const auto& entry : std::filesystem::directory_iterator(bench.folder.file("pods")))
        if (entry.path().extension() == ".tmp") ++count;
      return count;
    };
    bench.add("p", "d=$(mktemp -d) && touch $d/launch.sock && echo $d; exec sleep 1000");
    bench.in_phase("p", "Running");
    REQUIRE(bench.wait([&] { return bench.log("p").ends_with("\n"); }));
    const std::string made = bench.log("p").substr(0, bench.log("p").size() - 1);
    CHECK(made.starts_with(bench.folder.file("pods/")));
    CHECK(std::filesystem::exists(made + "/launch.sock"));
    CHECK(folders() == 1);
    bench.remove("p", {.grace_seconds = 0});
    REQUIRE(bench.gone("p"));
    CHECK(bench.wait([&] { return folders() == 0; }));
    bench.add("own", "echo $TMPDIR", Json::object(),
              {{"env", {{{"name", "TMPDIR"}, {"value", "/var/tmp"}}}}});
    bench.in_phase("own", "Succeeded");
    CHECK(bench.log("own") == "/var/tmp\n");
  }
}

TEST_CASE("A folder for temporary files leaves room for the name of a socket") {
  const std::string uid = "2c6f5b6e-1f0d-4a54-9f3c-0d2f1f7f9a10";
  const PodFolder usual("/home/somebody/.amdahl/local", uid);
  CHECK(usual.temporary() == "/home/somebody/.amdahl/local/pods/2c6f5b6e-1f0d.tmp");
  CHECK((usual.temporary() + "/amdahl-launch-XXXXXX/checkpoints.sock").size() <= 107);
  CHECK(PodFolder("/" + std::string(60, 'a'), uid).temporary().empty());
}

TEST_CASE("Kubelet refuses host paths outside the allowed folder, and mounts that cannot be") {
  TestKubelet bench(IsolationWish::kPlain);
  const auto message = [&](const std::string& name) {
    const Json pod = bench.pod(name);
    const Json none = Json::object();
    if (!pod["status"].contains("containerStatuses")) return std::string();
    const Json& state = pod["status"]["containerStatuses"][0]["state"];
    return state.value("waiting", none).value("message", "");
  };
  bench.add("plain", "true", {{"volumes", {{{"name", "v"}, {"emptyDir", Json::object()}}}}},
            {{"volumeMounts", {{{"name", "v"}, {"mountPath", "/data"}}}}});
  REQUIRE(bench.wait([&] { return message("plain").contains("cannot be mounted at /data"); }));
  bench.add("shm", "df /dev/shm > /dev/null && echo fine",
            {{"volumes", {{{"name", "v"}, {"emptyDir", {{"medium", "Memory"}}}}}}},
            {{"volumeMounts", {{{"name", "v"}, {"mountPath", "/dev/shm"}}}}});
  bench.in_phase("shm", "Succeeded");
  const std::vector<std::string> outside{"/etc", bench.folder.file("shared/../pods")};
  for (const std::string& path : outside) {
    const auto refused = host_path({.path = path}, bench.folder.file("shared"));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Errc::kForbidden);
  }
  CHECK_FALSE(host_path({.path = "/tmp"}, ""));
  CHECK(host_path({.path = bench.folder.file("shared/new"), .type = "DirectoryOrCreate"},
                  bench.folder.file("shared")));
}

TEST_CASE("Kubelet lets pods of a gang find each other by name") {
  for (const IsolationWish wish : isolations()) {
    TestKubelet bench(wish);
    const auto how = run_until_complete(bench.io, detect_isolation(AMDAHL_SHIM, wish, bench.clock));
    INFO("namespaces " << how.namespaces);
    if (!how.namespaces && how.nss_wrapper.empty()) {
      WARN("neither namespaces nor libnss-wrapper here: names cannot resolve");
      continue;
    }
    REQUIRE(bench
                .create(kube::kServices, "default",
                        R"({"metadata":{"name":"gang"},"spec":{"clusterIP":"None",
                             "selector":{"job":"g"},"ports":[{"port":80}]}})")
                .status == 201);
    const auto rank = [&](int index, const std::string& script) {
      bench.add_pod(
          fmt::format("g-{}", index),
          {{"nodeName", "n1"},
           {"restartPolicy", "Never"},
           {"hostname", fmt::format("rank-{}", index)},
           {"subdomain", "gang"},
           {"containers", {{{"name", "c"}, {"image", "x"}, {"command", {"sh", "-c", script}}}}}},
          {{"job", "g"}});
    };
    // Rank 0 starts before rank 1 exists, and waits for its name, as a rendezvous does.
    const std::string look =
        "until getent ahostsv4 rank-1.gang > /dev/null; do sleep 0.05; done; "
        "for n in rank-1.gang rank-1.gang.default.svc.cluster.local g-1.default.svc g-0; do "
        "getent ahostsv4 $n | head -1 | cut -d' ' -f1; done; "
        "getent ahostsv4 gang | grep -c STREAM";
    rank(0, look);
    bench.in_phase("g-0", "Running");
    rank(1, "sleep 1000");
    bench.in_phase("g-0", "Succeeded");
    const std::string zero = bench.pod("g-0")["status"]["podIP"];
    const std::string one = bench.pod("g-1")["status"]["podIP"];
    CHECK(zero != one);
    CHECK(bench.log("g-0") == fmt::format("{0}\n{0}\n{0}\n{1}\n2\n", one, zero));
  }
}

// The child hosts a kubelet until it is killed; the parent looks what is left.
[[noreturn]] void host_a_kubelet(IsolationWish wish, const std::string& note) {
  try {
    TestKubelet bench(wish);
    bench.add("p", "setsid sh -c 'sleep 1000 & sleep 1001' & (setsid sleep 1002 &) ; sleep 1003");
    std::ofstream(note) << bench.folder.path() << std::flush;
    (void)bench.wait([] { return false; });
  } catch (...) {
    // A failed REQUIRE must not go on as a second test runner.
  }
  ::_exit(1);
}

TEST_CASE("Kubelet: no process of a pod survives when the kubelet is killed") {
  for (const IsolationWish wish : isolations()) {
    INFO("plain " << (wish == IsolationWish::kPlain));
    const TestFolder notes;
    const std::string note = notes.file("folder");
    const pid_t host = ::fork();
    REQUIRE(host >= 0);
    if (host == 0) host_a_kubelet(wish, note);
    const auto pods = [&] { return marked_processes(kPodFolderVariable, text_of(note) + "/pods"); };
    const auto within = [&](auto ready) {
      for (int i = 0; i < 4000 && !ready(); ++i) ::usleep(5000);
      return ready();
    };
    // The shim, its sh and five sleepers or more.
    CHECK(within([&] { return !text_of(note).empty() && pods().size() >= 6; }));
    ::kill(host, SIGKILL);
    ::waitpid(host, nullptr, 0);
    CHECK(within([&] { return pods().empty(); }));
    std::error_code ignored;
    std::filesystem::remove_all(text_of(note), ignored);
  }
}

TEST_CASE("Kubelet: what a killed shim leaves behind ends with the kubelet at the latest") {
  for (const IsolationWish wish : isolations()) {
    TestKubelet bench(wish);
    bench.add("p", "setsid sleep 1000 & echo up; sleep 1001");
    bench.in_phase("p", "Running");
    REQUIRE(bench.wait([&] { return bench.log("p") == "up\n"; }));
    for (const pid_t pid : marked_processes(kPodFolderVariable, bench.folder.path()))
      if (text_of(fmt::format("/proc/{}/comm", pid)) == "amdahl-shim\n") ::kill(pid, SIGKILL);
    const Json pod = bench.in_phase("p", "Failed");
    CHECK(pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 137);
    bench.finish();  // checks that nothing is left
  }
}

}  // namespace
}  // namespace amdahl::local
