// One life of an embedded cluster on a folder, and our own client to it.
#pragma once

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/task_group.hpp"
#include "local/cluster/cluster.hpp"
#include "local/cluster/test_folder.hpp"
#include "operator/kube/api.hpp"
#include "operator/kube/session.hpp"

namespace amdahl::local {

struct RunOptions {
  bool in_memory = false;
  std::optional<std::uint16_t> port = {};
};

// Free, and outside of what the kernel gives to outgoing connections: one of those could take the
// port while a cluster is started again.
inline std::uint16_t lasting_port() {
  constexpr int kFirst = 20'000, kCount = 10'000;
  boost::asio::io_context io;
  for (int i = 0; i < kCount; ++i) {
    const auto port = static_cast<std::uint16_t>(kFirst + (::getpid() + i) % kCount);
    boost::system::error_code error;
    boost::asio::ip::tcp::acceptor acceptor(io);
    acceptor.open(boost::asio::ip::tcp::v4(), error);
    acceptor.bind({boost::asio::ip::address_v4::loopback(), port}, error);
    if (!error) return port;
  }
  return 0;
}

class ClusterRun {
 public:
  explicit ClusterRun(const DataFolder& folder, RunOptions options = {})
      : folder_(folder),
        cluster(io.get_executor(), clock, Rng(7),
                {.folder = folder, .in_memory = options.in_memory, .port = options.port}) {
    const auto started = run_until_complete(io, cluster.start([](std::string_view) {}));
    INFO((started ? "" : started.error().context));
    REQUIRE(started);
    session_ = connect(config());
  }
  ~ClusterRun() {
    (void)run_until_complete(io, session_->close(soon()));
    session_.reset();
    stop();
  }

  void stop() {
    if (!std::exchange(stopped_, true)) (void)run_until_complete(io, cluster.stop(soon()));
  }

  kube::Config config() const {
    auto config = kube::load_config({.kubeconfig = folder_.file("kubeconfig")}, {});
    REQUIRE(config);
    return *std::move(config);
  }
  std::string kubeconfig_text() const {
    return kube::read_file(folder_.file("kubeconfig"), 1 << 20).value();
  }
  Result<Json> get(const kube::Resource& resource, const kube::ObjectKey& key) {
    return run(kube::DynamicApi(session_->client(), resource).get(key));
  }
  std::vector<Json> list(const kube::Resource& resource) {
    return run(kube::DynamicApi(session_->client(), resource).list()).value().items;
  }
  Result<Json> create(const kube::Resource& resource, const Json& object) {
    return run(kube::DynamicApi(session_->client(), resource).create(object));
  }
  Result<Json> create_map(const std::string& name) {
    return create(kube::kConfigMaps, {{"metadata", {{"name", name}, {"namespace", "default"}}}});
  }
  Result<void> remove(const kube::Resource& resource, const kube::ObjectKey& key) {
    return run(kube::DynamicApi(session_->client(), resource).remove(key));
  }
  Result<kube::StreamResponse> open(kube::Request request) {
    return run(session_->client().open(std::move(request)));
  }
  // With a session of its own.
  Result<kube::Response> send(const kube::Config& other, kube::Request request) {
    const auto session = connect(other);
    auto answer = run(session->client().send(std::move(request)));
    (void)run_until_complete(io, session->close(soon()));
    return answer;
  }
  bool eventually(const std::function<bool()>& fact) {
    for (int tries = 0; tries < 200; ++tries) {
      if (fact()) return true;
      (void)run_until_complete(io, clock.sleep_for(std::chrono::milliseconds{20}));
    }
    return false;
  }

 private:
  template <class T>
  T run(Task<T> task) {
    return run_until_complete(io, std::move(task));
  }
  Monotonic soon() const { return clock.monotonic() + std::chrono::seconds{10}; }
  std::unique_ptr<kube::Session> connect(const kube::Config& config) {
    auto session = kube::Session::make(io.get_executor(), clock, Rng(8), config, {});
    REQUIRE(session);
    return *std::move(session);
  }

  DataFolder folder_;
  std::unique_ptr<kube::Session> session_;
  bool stopped_ = false;

 public:
  boost::asio::io_context io;
  RealClock clock;
  LocalCluster cluster;
};

// The words of a start that must fail.
inline std::string start_error(const DataFolder& folder, RunOptions options = {}) {
  boost::asio::io_context io;
  RealClock clock;
  LocalCluster cluster(io.get_executor(), clock, Rng(7),
                       {.folder = folder, .in_memory = options.in_memory, .port = options.port});
  const auto started = run_until_complete(io, cluster.start([](std::string_view) {}));
  (void)run_until_complete(io, cluster.stop(clock.monotonic() + std::chrono::seconds{10}));
  REQUIRE_FALSE(started);
  return started.error().context;
}

}  // namespace amdahl::local
