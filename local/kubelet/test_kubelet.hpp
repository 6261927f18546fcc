// A kubelet on the embedded API server, without a scheduler: pods come with their node's name.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "local/apiserver/front/in_process_transport.hpp"
#include "local/apiserver/front/test_front.hpp"
#include "local/kubelet/kubelet.hpp"
#include "local/kubelet/process_tree.hpp"
#include "local/kubelet/test_folder.hpp"
#include "operator/kube/types_core.hpp"
#include "operator/kube/types_pod.hpp"

namespace amdahl::local {

struct TestKubelet : TestFront {
  explicit TestKubelet(IsolationWish wish = IsolationWish::kBest, bool with_cgroups = false)
      : isolation(wish), cgroups(with_cgroups) {
    const kube::Resource spaces{
        .version = "v1", .plural = "namespaces", .kind = "Namespace", .namespaced = false};
    REQUIRE(create(spaces, "", R"({"metadata":{"name":"default"}})").status == 201);
    std::filesystem::create_directories(folder.file("shared"));
    begin();
  }
  ~TestKubelet() { finish(); }

  void begin() {
    metrics = std::make_unique<MetricsRegistry>();
    tasks = std::make_unique<TaskGroup>(io.get_executor());
    kubelet = std::make_unique<Kubelet>(
        controller::Runtime{
            .executor = io.get_executor(), .client = client, .metrics = *metrics, .log = {}},
        Rng(5),
        KubeletOptions{
            .nodes = nodes,
            .data_dir = folder.path(),
            .shim = AMDAHL_SHIM,
            .host_path_root = folder.file("shared"),
            .server_url = "https://127.0.0.1:6443",
            .version = "v1.34.0-amdahl",
            .host_variables = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"TOKEN", "hidden"}},
            .isolation = isolation,
            .cgroups = cgroups,
            .own_hosts = "127.0.0.1 localhost\n",
            .on_log = [this] { durable->say_progress(); }});
    tasks->spawn("kubelet", run(*kubelet));
  }
  static Task<void> run(Kubelet& kubelet) {
    const auto ended = co_await kubelet.run();
    INFO((ended ? "" : ended.error().context));
    CHECK(ended);
  }
  // An orderly stop, as `local down` does it.
  void finish(std::chrono::seconds grace = std::chrono::seconds{3}) {
    if (!kubelet) return;
    run_until_complete(io, kubelet->stop(clock.monotonic() + grace));
    CHECK(run_until_complete(io, tasks->join(clock, soon())));
    CHECK(left() == 0);
    kubelet.reset();
    tasks.reset();
  }

  std::size_t left() const { return marked_processes(kPodFolderVariable, folder.path()).size(); }

  // A pod of one container that runs a shell script; `more` is put into its spec.
  void add(const std::string& name, const std::string& script, Json more = Json::object(),
           Json container = Json::object()) {
    Json spec = {{"nodeName", "n1"}, {"restartPolicy", "Never"}};
    if (container.is_null()) container = Json::object();  // {} is null
    container.update({{"name", "c"}, {"image", "none"}, {"command", {"sh", "-c", script}}});
    spec["containers"] = Json::array({std::move(container)});
    if (more.is_object()) spec.update(more);
    add_pod(name, std::move(spec));
  }
  void add_pod(const std::string& name, Json spec, Json labels = Json::object()) {
    const Json pod = {{"metadata", {{"name", name}, {"labels", std::move(labels)}}},
                      {"spec", std::move(spec)}};
    const auto reply = create(kube::kPods, "default", pod.dump());
    INFO(reply.body);
    REQUIRE(reply.status == 201);
  }
  Json pod(const std::string& name) {
    const auto reply = send(*kube::get_request(kube::kPods, {.ns = "default", .name = name}));
    return reply.status == 404 ? Json(nullptr) : Json::parse(reply.body);
  }
  void remove(const std::string& name, kube::DeleteOptions options = {}) {
    const kube::ObjectKey key{.ns = "default", .name = name};
    CHECK(send(*kube::delete_request(kube::kPods, key, options)).status == 200);
  }

  bool wait(std::function<bool()> ready) {
    const auto end = clock.monotonic() + std::chrono::seconds{20};
    while (!ready() && clock.monotonic() < end) run_until_complete(io, pause(clock));
    return ready();
  }
  static Task<void> pause(Clock& clock) {
    (void)co_await clock.sleep_for(std::chrono::milliseconds{10});
  }
  // The pod when its status has this phase; fails with what it has instead.
  Json in_phase(const std::string& name, const std::string& phase) {
    Json last;
    const bool reached = wait([&] {
      last = pod(name);
      return last.is_object() && last["status"].value("phase", "") == phase;
    });
    INFO(last.dump(1));
    REQUIRE(reached);
    return last;
  }
  bool gone(const std::string& name) {
    return wait([&] { return pod(name).is_null(); });
  }
  std::string log(const std::string& name, LogQuery query = {}) {
    query.ns = "default";
    query.pod = name;
    query.uid = pod(name)["metadata"]["uid"];
    if (query.container.empty()) query.container = "c";
    auto stream = kubelet->open(query);
    if (!stream) return "(" + stream.error().message + ")";
    std::string text;
    for (auto next = (*stream)->next(); next.ready == WatchStream::Ready::kFrame;
         next = (*stream)->next())
      text += next.bytes;
    return text;
  }

  TestFolder folder;
  IsolationWish isolation;
  bool cgroups;
  std::vector<NodeSpec> nodes = {
      {.name = "n1", .cpu_milli = 4000, .gpus = 4, .labels = {{"zone", "a"}}}, {.name = "n2"}};
  InProcessTransport wire{*durable, clock, {.name = "kubelet", .groups = {"system:nodes"}}};
  kube::Client client{wire, clock, Rng(3)};
  std::unique_ptr<MetricsRegistry> metrics;
  std::unique_ptr<TaskGroup> tasks;
  std::unique_ptr<Kubelet> kubelet;
};

// How containers are held on this machine, both ways when it permits namespaces.
inline std::vector<IsolationWish> isolations() {
  return {IsolationWish::kBest, IsolationWish::kPlain};
}

}  // namespace amdahl::local
