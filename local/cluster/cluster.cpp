#include "local/cluster/cluster.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/task_group.hpp"
#include "local/apiserver/front/front.hpp"
#include "local/apiserver/front/tokens.hpp"
#include "local/cluster/bootstrap_objects.hpp"
#include "local/cluster/certificates.hpp"
#include "local/cluster/components.hpp"
#include "local/cluster/namespace_defaults.hpp"
#include "local/cluster/whole_file.hpp"
#include "local/kubelet/kubelet.hpp"
#include "local/scheduler/scheduler.hpp"

namespace amdahl::local {
namespace {

constexpr std::string_view kAddress = "127.0.0.1";
constexpr std::size_t kBodyBytesMost = kBodyBytesMax + 1;  // the core refuses with its own words
constexpr std::chrono::seconds kStreamsMax{1};             // watches do not end by themselves
constexpr std::chrono::hours kRenewalCheck{12};
constexpr std::chrono::seconds kNodesMax{20};  // to register them all

Result<std::unique_ptr<Journal>> open_journal(const ClusterOptions& options) {
  return Journal::open(options.in_memory ? ":memory:" : options.folder.file("objects.db"));
}

std::unexpected<Error> port_in_use(Error error, std::uint16_t port, bool remembered) {
  return wrap(std::move(error), "port {}{}", port,
              remembered ? " from the previous run cannot be opened (end the program that uses it, "
                           "or pass --port 0 for another one; kubeconfigs are then written again)"
                         : " cannot be opened (pass another --port, or --port 0 for any)");
}

}  // namespace

// In the order in which they are made; they go in the reverse order.
struct LocalCluster::Parts {
  Parts(boost::asio::any_io_executor on, Clock& with, Rng seed, ClusterOptions chosen)
      : executor(std::move(on)),
        clock(with),
        rng(seed),
        options(std::move(chosen)),
        tasks(executor) {}

  boost::asio::any_io_executor executor;
  Clock& clock;
  Rng rng;
  ClusterOptions options;
  Settings settings;
  ClusterAddress address;
  BuiltinSchemas schemas;
  LateLogs logs;
  std::unique_ptr<Tokens> tokens;
  std::unique_ptr<ServedKinds> rules;
  std::unique_ptr<Journal> journal;
  std::unique_ptr<ApiServer> server;
  std::unique_ptr<DurableServer> durable;
  std::unique_ptr<Front> front;
  std::unique_ptr<Components> components;
  std::unique_ptr<NamespaceDefaults> namespace_defaults;
  std::unique_ptr<Scheduler> scheduler;
  std::unique_ptr<Kubelet> kubelet;
  std::function<void()> on_failure;
  TaskGroup tasks;

  Result<void> read_folder() {
    TRY(settings, read_settings(options.folder));
    if (options.nodes) settings.nodes = *options.nodes;
    if (options.host_path_root) settings.host_path_root = *options.host_path_root;
    TRY(const Certificates certificates, keep_certificates(options.folder, clock.wall()));
    address.authority_pem = certificates.authority_pem;
    TRY(address.token, keep_secret(options.folder, "admin.token", random_token));
    TRY(std::string secret, keep_secret(options.folder, "accounts.secret", random_token));
    tokens = std::make_unique<Tokens>(address.token, std::move(secret));
    rules = std::make_unique<ServedKinds>(schemas, *tokens, std::string(kAddress));
    server = std::make_unique<ApiServer>(*rules, rng.split(), Options{.pod_logs = &logs});
    return {};
  }

  // Not before this: whatever comes with a request belongs to the journal.
  Result<void> load_objects() {
    TRY(journal, open_journal(options));
    durable = std::make_unique<DurableServer>(executor, clock, *server, *journal, options.log);
    return durable->start();
  }

  HttpServerOptions http_options() const {
    HttpServerOptions http{
        .address = std::string(kAddress),
        .port = options.port.value_or(static_cast<std::uint16_t>(settings.port)),
        .tls = HttpTlsOptions{.certificate_file = options.folder.file("server.crt"),
                              .key_file = options.folder.file("server.key")},
        .log = options.log};
    http.limits.body_bytes_max = kBodyBytesMost;
    return http;
  }

  // What the outside finds: only when the server answers.
  Result<void> write_files() {
    settings.port = front->port();
    address.url = server_url(settings.port);
    TRY(write_settings(options.folder, settings));
    TRY(write_whole_file(options.folder.file("kubeconfig"), kubeconfig_text(address)));
    return write_server_status(options.folder, {.pid = ::getpid(),
                                                .port = settings.port,
                                                .started = format_time(clock.wall()),
                                                .in_memory = options.in_memory});
  }

  // So that the first `kubectl get nodes` shows them, and the first pod finds one.
  Task<Result<void>> wait_for_nodes() {
    const Monotonic deadline = clock.monotonic() + kNodesMax;
    for (std::int32_t number = 0; number < settings.nodes.count;) {
      const Reply found = co_await durable->handle({.method = "GET",
                                                    .target = "/api/v1/nodes/" + node_name(number),
                                                    .user_agent = "amdahl"});
      if (components->failure()) co_return std::unexpected<Error>(*components->failure());
      if (found.status == 200)
        ++number;
      else
        CO_TRY(co_await durable->progress(deadline));
    }
    co_return Result<void>{};
  }

  // The HTTP server sees new files by itself.
  Task<void> keep_renewed() {
    while (co_await clock.sleep_for(kRenewalCheck)) {
      const auto kept = keep_certificates(options.folder, clock.wall());
      if (!kept)
        options.log.error("certificates cannot be renewed", {{"error", kept.error()}});
      else if (kept->renewed)
        options.log.info("server certificate renewed");
    }
  }
};

LocalCluster::LocalCluster(boost::asio::any_io_executor executor, Clock& clock, Rng rng,
                           ClusterOptions options)
    : parts_(std::make_unique<Parts>(std::move(executor), clock, rng, std::move(options))) {}

LocalCluster::~LocalCluster() = default;

Task<Result<void>> LocalCluster::start(Progress progress) {
  CO_TRY(co_await open_server(progress));
  progress("starting controllers");
  CO_TRY(parts_->write_files());
  CO_TRY(add_components());
  parts_->components->start();
  parts_->tasks.spawn("certificates", parts_->keep_renewed());
  if (parts_->kubelet) CO_TRY(co_await parts_->wait_for_nodes());
  parts_->options.log.info("cluster is ready", {{"url", parts_->address.url}});
  co_return Result<void>{};
}

Task<Result<void>> LocalCluster::open_server(Progress progress) {
  Parts& parts = *parts_;
  progress("reading certificates and credentials");
  CO_TRY(parts.read_folder());
  progress("loading objects");
  CO_TRY(parts.load_objects());
  progress("opening the API server");
  parts.front = std::make_unique<Front>(parts.executor, parts.clock, *parts.durable, *parts.tokens,
                                        parts.http_options());
  if (auto opened = co_await parts.front->start(); !opened)
    co_return port_in_use(std::move(opened).error(), parts.http_options().port,
                          !parts.options.port && parts.settings.port != 0);
  const WallTime now = parts.clock.wall();
  CO_TRY(
      make_bootstrap_objects(*parts.server, parts.front->port(), parts.options.definitions, now));
  // A read waits for what was written before it, so all of the above costs one write to the disk.
  const Reply ready = co_await parts.durable->handle(
      {.method = "GET", .target = "/api/v1/namespaces/default", .user_agent = "amdahl"});
  if (ready.status != 200)
    co_return fail(Errc::kUnavailable, "read namespace default: {}", ready.body);
  co_return Result<void>{};
}

// Each with a client of its own. They stop in the reverse order: whoever would start containers
// again first, then the containers.
Result<void> LocalCluster::add_components() {
  Parts& parts = *parts_;
  parts.components = std::make_unique<Components>(parts.executor, parts.clock, *parts.durable,
                                                  parts.rng.split(), parts.options.log);
  parts.components->on_failure([&parts] {
    if (parts.on_failure) parts.on_failure();
  });
  parts.namespace_defaults =
      std::make_unique<NamespaceDefaults>(parts.components->runtime("system:namespace-defaults"),
                                          parts.rng.split(), parts.address.authority_pem);
  NamespaceDefaults& defaults = *parts.namespace_defaults;
  parts.components->add(
      "namespace-defaults", [&defaults] { return defaults.run(); },
      Components::asks([&defaults] { defaults.stop(); }));
  parts.scheduler = std::make_unique<Scheduler>(parts.components->runtime("system:kube-scheduler"),
                                                parts.rng.split());
  Scheduler& scheduler = *parts.scheduler;
  parts.components->add(
      "scheduler", [&scheduler] { return scheduler.run(); },
      Components::asks([&scheduler] { scheduler.stop(); }));
  if (!parts.options.shim.empty()) TRY(add_kubelet());
  if (parts.options.add_more) parts.options.add_more(*parts.components);
  return {};
}

Result<void> LocalCluster::add_kubelet() {
  Parts& parts = *parts_;
  TRY(auto nodes, local_nodes(parts.settings.nodes, parts.options.machine));
  DurableServer& durable = *parts.durable;
  parts.kubelet =
      std::make_unique<Kubelet>(parts.components->runtime("system:kubelet"), parts.rng.split(),
                                KubeletOptions{.nodes = std::move(nodes),
                                               .data_dir = parts.options.folder.path(),
                                               .shim = parts.options.shim,
                                               .host_path_root = parts.settings.host_path_root,
                                               .server_url = parts.address.url,
                                               .ca_file = parts.options.folder.file("ca.crt"),
                                               .version = parts.options.version,
                                               .host_variables = parts.options.host_variables,
                                               .own_hosts = parts.options.host_names,
                                               .on_log = [&durable] { durable.say_progress(); }});
  Kubelet& kubelet = *parts.kubelet;
  parts.logs.set(&kubelet);
  parts.components->add(
      "kubelet", [&kubelet] { return kubelet.run(); },
      [&kubelet](Monotonic deadline) { return kubelet.stop(deadline); });
  return {};
}

Task<Result<void>> LocalCluster::stop(Monotonic deadline) {
  Parts& parts = *parts_;
  remove_server_status(parts.options.folder);
  Result<void> result;
  const auto note = [&result](Result<void> step) {
    if (!step && result) result = std::move(step);
  };
  if (parts.components) note(co_await parts.components->stop(deadline));
  // Whoever watches is cut off: a watch has no end of its own, and clients are used to it.
  if (parts.front)
    (void)co_await parts.front->stop(std::min(deadline, parts.clock.monotonic() + kStreamsMax));
  parts.tasks.stop();
  if (!co_await parts.tasks.join(parts.clock, deadline))
    note(fail(Errc::kTimeout, "tasks of the cluster did not end"));
  if (parts.durable) note(co_await parts.durable->stop(deadline));
  parts.options.log.info("cluster has stopped");
  co_return result;
}

std::uint16_t LocalCluster::port() const {
  return parts_->front->port();
}

const ClusterAddress& LocalCluster::address() const {
  return parts_->address;
}

const std::optional<Error>& LocalCluster::failure() const {
  static const std::optional<Error> none;
  return parts_->components ? parts_->components->failure() : none;
}

void LocalCluster::on_failure(std::function<void()> handler) {
  parts_->on_failure = std::move(handler);
}

}  // namespace amdahl::local
