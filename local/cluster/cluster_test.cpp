#include "local/cluster/cluster.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/task_group.hpp"
#include "local/cluster/test_cluster_run.hpp"
#include "operator/kube/api.hpp"

namespace amdahl::local {
namespace {

const kube::Resource kAccounts{
    .group = "", .version = "v1", .plural = "serviceaccounts", .kind = "ServiceAccount"};

TEST_CASE("LocalCluster serves over TLS what a control plane has") {
  const TestFolder test;
  ClusterRun run(test.folder);
  std::vector<std::string> names;
  for (const Json& item : run.list(kube::kNamespaces)) names.push_back(item["metadata"]["name"]);
  CHECK(names ==
        std::vector<std::string>{"default", "kube-node-lease", "kube-public", "kube-system"});
  const kube::Resource classes{.group = "scheduling.k8s.io",
                               .version = "v1",
                               .plural = "priorityclasses",
                               .kind = "PriorityClass",
                               .namespaced = false};
  CHECK(run.list(classes).size() == 2);
  const kube::Resource roles{.group = "rbac.authorization.k8s.io",
                             .version = "v1",
                             .plural = "clusterroles",
                             .kind = "ClusterRole",
                             .namespaced = false};
  CHECK(run.list(roles).size() == 5);
  const Json service = run.get(kube::kServices, {"default", "kubernetes"}).value();
  CHECK(service["spec"]["ports"][0]["port"] == run.cluster.port());
}

TEST_CASE("LocalCluster answers nobody without its token") {
  const TestFolder test;
  ClusterRun run(test.folder);
  for (const char* token : {"", "wrong"}) {
    kube::Config config = run.config();
    config.auth = std::string_view(token).empty() ? kube::AuthConfig()
                                                  : kube::AuthConfig(kube::StaticToken{token});
    const auto answer = run.send(config, kube::discover_request("/version"));
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == Errc::kUnauthorized);
  }
  kube::Config stranger = run.config();
  stranger.tls.ca = {};  // the system's own roots do not know us
  const auto answer = run.send(stranger, kube::discover_request("/version"));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == Errc::kTls);
}

TEST_CASE("LocalCluster keeps objects, port, token and authority over a restart") {
  const TestFolder test;
  std::string kubeconfig;
  {
    ClusterRun run(test.folder, {.port = lasting_port()});
    kubeconfig = run.kubeconfig_text();
    REQUIRE(run.create_map("kept"));
  }
  CHECK(read_server_status(test.folder).error().code == Errc::kNotFound);
  ClusterRun run(test.folder);
  CHECK(run.kubeconfig_text() == kubeconfig);
  CHECK(run.get(kube::kConfigMaps, {"default", "kept"}));
}

TEST_CASE("LocalCluster in memory forgets its objects and nothing else") {
  const TestFolder test;
  std::string kubeconfig;
  {
    ClusterRun run(test.folder, {.in_memory = true, .port = lasting_port()});
    kubeconfig = run.kubeconfig_text();
    REQUIRE(run.create_map("gone"));
  }
  ClusterRun run(test.folder, {.in_memory = true});
  CHECK(run.kubeconfig_text() == kubeconfig);
  CHECK(run.get(kube::kConfigMaps, {"default", "gone"}).error().code == Errc::kNotFound);
  CHECK_FALSE(std::filesystem::exists(test.folder.file("objects.db")));
}

TEST_CASE("LocalCluster gives every namespace its account and its authority, again and again") {
  const TestFolder test;
  ClusterRun run(test.folder);
  const kube::ObjectKey account{"default", "default"};
  REQUIRE(run.eventually([&] { return run.get(kAccounts, account).has_value(); }));
  REQUIRE(run.remove(kAccounts, account));
  REQUIRE(run.eventually([&] { return run.get(kAccounts, account).has_value(); }));
  REQUIRE(run.create(kube::kNamespaces, {{"metadata", {{"name", "research"}}}}));
  const kube::ObjectKey authority{"research", "kube-root-ca.crt"};
  REQUIRE(run.eventually([&] {
    const auto map = run.get(kube::kConfigMaps, authority);
    return map && (*map)["data"]["ca.crt"] == run.cluster.address().authority_pem;
  }));
}

TEST_CASE("LocalCluster says which port or file is in the way, and loses nothing") {
  const TestFolder test;
  std::uint16_t port = 0;
  {
    ClusterRun run(test.folder, {.port = lasting_port()});
    port = run.cluster.port();
    REQUIRE(run.create_map("kept"));
  }
  {
    boost::asio::io_context io;
    using boost::asio::ip::tcp;
    const tcp::acceptor other(io, {boost::asio::ip::address_v4::loopback(), port});
    const auto refused = start_error(test.folder);
    CHECK_THAT(refused, Catch::Contains(std::to_string(port)) && Catch::Contains("--port 0"));
  }
  std::ofstream(test.folder.file("settings.json")) << "{";
  CHECK_THAT(start_error(test.folder), Catch::Contains("settings.json"));
  std::filesystem::remove(test.folder.file("settings.json"));
  ClusterRun run(test.folder);
  CHECK(run.get(kube::kConfigMaps, {"default", "kept"}));
}

TEST_CASE("LocalCluster refuses a damaged database and leaves it as it is") {
  const TestFolder test;
  const std::string text(8192, 'x');
  std::ofstream(test.folder.file("objects.db")) << text;
  CHECK_THAT(start_error(test.folder), Catch::Contains("objects.db") && Catch::Contains("move it"));
  CHECK(kube::read_file(test.folder.file("objects.db"), 1 << 20).value() == text);
}

TEST_CASE("LocalCluster ends although somebody watches") {
  const TestFolder test;
  ClusterRun run(test.folder);
  auto watch = run.open(*kube::watch_request(kube::kConfigMaps, {.version = "0"}));
  REQUIRE(watch);
  const Monotonic start = run.clock.monotonic();
  run.stop();
  CHECK(run.clock.monotonic() - start < std::chrono::seconds{10});
}

}  // namespace
}  // namespace amdahl::local
