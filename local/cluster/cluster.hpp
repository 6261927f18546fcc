// The embedded cluster: API server, its objects on disk, and the controllers of a control plane, in
// this process and on one data folder.
//
//   LocalCluster cluster(executor, clock, rng, {.folder = folder});
//   CO_TRY(co_await cluster.start([](std::string_view step) { ... }));
//   ...   CO_TRY(co_await cluster.stop(deadline));
//
// Thread: one. Lifetime: the clock outlives it; stop() has returned before it dies, also after a
// start that failed. Failure: start() says which file, port or object is in the way and what to do;
// nothing that was stored is lost. A part that breaks later is told by failure().
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "local/cluster/cluster_files.hpp"
#include "local/cluster/data_folder.hpp"
#include "local/cluster/kubeconfig_edit.hpp"
#include "local/cluster/local_nodes.hpp"

namespace amdahl::local {

class Components;

struct ClusterOptions {
  DataFolder folder;
  bool in_memory = false;                  // objects are gone when the process ends
  std::optional<std::uint16_t> port = {};  // 0: any free one; none: the one of the last start
  std::optional<NodeShape> nodes = {};     // none: those of the last start
  std::optional<std::string> host_path_root = {};  // none: that of the last start; empty: nowhere
  MachineSize machine = {};
  std::string version = {};  // shown as that of the nodes
  std::string shim = {};     // the program that holds a container; empty: no nodes, nothing runs
  std::vector<std::pair<std::string, std::string>> host_variables = {};  // that containers see
  std::string host_names = {};                                           // /etc/hosts, its text
  std::vector<std::string> definitions = {};       // CRDs, as JSON, that it has from the start
  std::function<void(Components&)> add_more = {};  // the caller's own parts; they stop first
  Log log = {};
};

class LocalCluster {
 public:
  using Progress = std::function<void(std::string_view step)>;

  LocalCluster(boost::asio::any_io_executor executor, Clock& clock, Rng rng,
               ClusterOptions options);
  ~LocalCluster();
  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;

  // Ready when it returns: kubectl with DATA/kubeconfig works.
  Task<Result<void>> start(Progress progress);
  Task<Result<void>> stop(Monotonic deadline);

  std::uint16_t port() const;
  const ClusterAddress& address() const;
  // Why the cluster cannot go on; nothing while it runs. The handler is called once, when it is so.
  const std::optional<Error>& failure() const;
  void on_failure(std::function<void()> handler);

 private:
  struct Parts;
  Task<Result<void>> open_server(Progress progress);
  Result<void> add_components();
  Result<void> add_kubelet();

  std::unique_ptr<Parts> parts_;
};

}  // namespace amdahl::local
