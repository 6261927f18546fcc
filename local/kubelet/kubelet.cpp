#include "local/kubelet/kubelet.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <set>

#include "base/fd.hpp"
#include "local/kubelet/kept_logs.hpp"
#include "local/kubelet/kept_owner.hpp"
#include "local/kubelet/log_stream.hpp"
#include "local/kubelet/node_keeper.hpp"
#include "local/kubelet/pod_worker.hpp"
#include "local/kubelet/process_tree.hpp"
#include "operator/kube/api.hpp"
#include "operator/kube/discovery.hpp"
#include "operator/kube/watcher.hpp"

namespace amdahl::local {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kReconcileMax{120};
constexpr std::size_t kWorkers = 16;  // a start waits for the shim

std::function<void(const Error&)> told_by(const Log& log) {
  return [log](const Error& error) { log.warning("kubelet watch failed", {{"error", error}}); };
}
kube::WatcherOptions bound_pods(const Log& log) {
  return {.resource = kube::kPods, .fields = "spec.nodeName!=", .on_problem = told_by(log)};
}
kube::WatcherOptions all_services(const Log& log) {
  return {.resource = kube::kServices,
          .shape = controller::Store<kube::Service>::shape(),
          .on_problem = told_by(log)};
}

constexpr mode_t kOwnerOnly = 0700;

Result<void> check(const KubeletOptions& options) {
  if (::access(options.shim.c_str(), X_OK) != 0)
    return fail(Errc::kNotFound, "kubelet: cannot run its shim {}: {}", options.shim,
                errno_text(errno));
  if (!options.data_dir.starts_with('/'))
    return fail(Errc::kInvalid, "kubelet: the data folder \"{}\" is not an absolute path",
                options.data_dir);
  std::error_code error;
  for (const char* folder : {"/pods", "/hosts", "/kept-logs"}) {
    fs::create_directories(options.data_dir + folder, error);
    if (error)
      return fail(Errc::kIo, "kubelet: create {}{}: {}", options.data_dir, folder, error.message());
    // Logs and secrets of pods are in there.
    if (::chmod((options.data_dir + folder).c_str(), kOwnerOnly) != 0)
      return fail(Errc::kIo, "kubelet: chmod {}{}: {}", options.data_dir, folder,
                  errno_text(errno));
  }
  return {};
}

std::unique_ptr<WatchStream> stream_of(const LogQuery& query, const std::string& folder,
                                       std::int32_t run, std::shared_ptr<LogWriter> follow) {
  LogRead read{.folder = folder,
               .run = run,
               .timestamps = query.timestamps,
               .since = query.since,
               .follow = std::move(follow)};
  if (query.tail_lines) read.tail_lines = static_cast<std::size_t>(*query.tail_lines);
  if (query.limit_bytes) read.limit_bytes = static_cast<std::size_t>(*query.limit_bytes);
  return std::make_unique<LogStream>(std::move(read));
}

}  // namespace

struct Kubelet::Parts {
  Parts(controller::Runtime given, Rng rng, KubeletOptions opt)
      : runtime(std::move(given)),
        clock(runtime.client.clock()),
        options(std::move(opt)),
        log(runtime.log.with({{"part", "kubelet"}})),
        processes(runtime.executor),
        background(runtime.executor),
        event_metrics(own_metrics),
        events(runtime.executor, runtime.client, rng.split(),
               {.controller = "amdahl.dev/kubelet", .instance = "local"}, event_metrics),
        pod_watch(runtime.client, rng.split(), bound_pods(log), pods),
        service_watch(runtime.client, rng.split(), all_services(log), services),
        kept(options.data_dir + "/kept-logs"),
        worker({.client = runtime.client,
                .tasks = processes,
                .pods = pods,
                .services = services,
                .events = events,
                .options = options,
                .kept = kept,
                .log = log},
               [this](const kube::ObjectKey& key) { loop.queue().add(key); }),
        loop(runtime, rng.split(),
             {.name = "kubelet",
              .workers = kWorkers,
              .reconcile_deadline = kReconcileMax,
              .field_manager = "kubelet"},
             worker),
        nodes(runtime.client, options, log),
        ended(runtime.executor) {
    loop.reconciles(pods);
    // A service changes names, not pods.
    loop.watches(services, [this](const controller::Change& change) {
      worker.update_hosts(change.key.ns);
      return std::vector<kube::ObjectKey>{};
    });
  }

  // Folders of pods that the API has forgotten while nobody was here.
  void remove_old_folders() {
    std::set<std::string> known;
    pods.for_each([&](const auto& pod) {
      for (std::string& name : PodFolder(options.data_dir, pod->metadata.uid).names())
        known.insert(std::move(name));
    });
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(options.data_dir + "/pods", error))
      if (!known.contains(entry.path().filename().string())) fs::remove_all(entry.path(), error);
  }

  // The logs of pods go with the object that the pods belonged to.
  Task<void> forget_kept_logs() {
    constexpr std::chrono::seconds kSweepEvery{5};
    while (co_await clock.sleep_for(kSweepEvery)) {
      kube::Discovery discovery(runtime.client);
      for (const KeptOwner& owner : kept.owners())
        if ((co_await look_at_owner(runtime.client, discovery, owner)).gone) kept.forget(owner);
    }
  }

  Task<Result<void>> prepare() {
    CO_TRY(check(options));
    if (const std::size_t left = kill_leftovers(options.data_dir); left > 0)
      log.warning("processes of an earlier life were ended", {{"count", left}});
    Isolation isolation = co_await detect_isolation(options.shim, options.isolation, clock);
    std::optional<MemoryCgroups> cgroups;
    if (options.cgroups)
      cgroups = MemoryCgroups::detect("/sys/fs/cgroup", read_proc("/proc/self/cgroup"),
                                      fmt::format("{}{}", kCgroupPrefix, ::getpid()));
    log.info("kubelet starts", {{"namespaces", isolation.namespaces},
                                {"why", isolation.why},
                                {"host_names", isolation.namespaces ? "mounted hosts file"
                                               : !isolation.nss_wrapper.empty() ? "nss_wrapper"
                                                                                : "none"},
                                {"memory_limits", cgroups ? "cgroup" : "watched"}});
    used_cgroups = cgroups;
    worker.use(std::move(isolation), std::move(cgroups));
    co_return co_await nodes.start();
  }

  Task<Result<void>> run() {
    CO_TRY(co_await prepare());
    background.spawn("kubelet pods", pod_watch.run());
    background.spawn("kubelet services", service_watch.run());
    background.spawn("kubelet events", events.run());
    background.spawn("kubelet nodes", nodes.keep());
    background.spawn("kubelet kept logs", forget_kept_logs());
    constexpr std::chrono::milliseconds kSyncPoll{10};
    while (!loop.synced() && !stopping)
      if (!co_await clock.sleep_for(kSyncPoll)) co_return fail(Errc::kCancelled, "kubelet stopped");
    if (!stopping) remove_old_folders();
    loop_runs = true;
    auto result = co_await loop.run({});
    loop_runs = false;
    ended.notify_all();
    while (!stopped && result) (void)co_await ended.wait(clock, Monotonic::max());
    co_return result;
  }

  Task<void> stop(Monotonic deadline) {
    stopping = true;
    loop.stop();
    worker.refuse_starts();
    while (loop_runs && clock.monotonic() < deadline) (void)co_await ended.wait(clock, deadline);
    co_await worker.stop(deadline);
    if (const auto said = co_await nodes.stop(); !said)
      log.warning("nodes not marked as stopped", {{"cause", said.error()}});
    (void)co_await events.flush(deadline);  // events are not worth more time
    background.stop();
    processes.stop();  // a shim that is still there sees its pipe close, and kills
    (void)co_await background.join(clock, clock.monotonic() + std::chrono::seconds{5});
    (void)co_await processes.join(clock, clock.monotonic() + std::chrono::seconds{5});
    // Where a shim was killed by somebody, and there are no namespaces, its processes are nobody's.
    (void)kill_leftovers(options.data_dir);
    if (used_cgroups) used_cgroups->remove();
    stopped = true;
    ended.notify_all();
  }

  controller::Runtime runtime;
  Clock& clock;
  const KubeletOptions options;
  Log log;
  TaskGroup processes;
  TaskGroup background;
  MetricsRegistry own_metrics;  // the process's registry has those of its manager
  controller::EventMetrics event_metrics;
  controller::EventRecorder events;
  controller::Store<Pod> pods;
  controller::Store<kube::Service> services;
  kube::Watcher pod_watch;
  kube::Watcher service_watch;
  KeptLogs kept;
  PodWorker worker;
  controller::Controller loop;
  NodeKeeper nodes;
  Notify ended;
  std::optional<MemoryCgroups> used_cgroups;
  bool loop_runs = false;
  bool stopping = false;
  bool stopped = false;
};

Kubelet::Kubelet(controller::Runtime runtime, Rng rng, KubeletOptions options)
    : parts_(std::make_unique<Parts>(std::move(runtime), rng, std::move(options))) {}

Kubelet::~Kubelet() = default;

Task<Result<void>> Kubelet::run() {
  return parts_->run();
}

Task<void> Kubelet::stop(Monotonic deadline) {
  return parts_->stop(deadline);
}

Outcome<std::unique_ptr<WatchStream>> Kubelet::open(const LogQuery& query) {
  const std::string folder = PodFolder(parts_->options.data_dir, query.uid).logs(query.container);
  std::shared_ptr<LogWriter> writer = parts_->worker.open_log(query.uid, query.container);
  const std::int32_t last = last_log_run(folder);
  const std::int32_t run = query.previous ? last - 1 : last;
  if (run < 0 || log_pieces(folder, run).empty())
    return bad_request(
        query.previous
            ? fmt::format("previous terminated container \"{}\" in pod \"{}\" not found",
                          query.container, query.pod)
            : fmt::format("container \"{}\" in pod \"{}\" is waiting to start: ContainerCreating",
                          query.container, query.pod));
  return stream_of(query, folder, run, query.follow && !query.previous ? writer : nullptr);
}

Outcome<std::unique_ptr<WatchStream>> Kubelet::open_kept(const LogQuery& query) {
  const auto folder = parts_->kept.find(query.ns, query.pod, query.container);
  if (!folder || query.previous) return not_found({.name = "pods"}, query.pod);
  return stream_of(query, *folder, 0, nullptr);
}

}  // namespace amdahl::local
