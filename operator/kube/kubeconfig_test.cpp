#include "operator/kube/kubeconfig.hpp"

#include <catch2/catch.hpp>

#include "operator/kube/base64.hpp"

namespace amdahl::kube {
namespace {

// A kubeconfig with one context "dev", whose cluster and user hold the given flow-style fields.
std::string config_text(std::string_view cluster, std::string_view user) {
  return fmt::format(
      "apiVersion: v1\nkind: Config\ncurrent-context: dev\n"
      "contexts:\n- {{name: dev, context: {{cluster: c, user: u, namespace: research}}}}\n"
      "clusters:\n- {{name: c, cluster: {{{}}}}}\n"
      "users:\n- {{name: u, user: {{{}}}}}\n",
      cluster, user);
}

Result<Config> decode(std::string_view cluster, std::string_view user) {
  const KubeconfigFile file{.path = "/home/ann/.kube/config", .text = config_text(cluster, user)};
  return merge_kubeconfig({&file, 1}, "");
}

constexpr std::string_view kServer = "server: \"https://10.0.0.1:6443\"";

void check_refused(const Result<Config>& config, const std::string& expected) {
  REQUIRE_FALSE(config);
  CHECK(config.error().code == Errc::kInvalid);
  CHECK_THAT(config.error().context, Catch::Contains("/home/ann/.kube/config"));
  CHECK_THAT(config.error().context, Catch::Contains(expected));
}

TEST_CASE("A kubeconfig context gives address, namespace and token", "[C3]") {
  const auto config = decode(kServer, "token: abc");
  REQUIRE(config);
  CHECK(config->server == Url{.host = "10.0.0.1", .port = 6443});
  CHECK(config->ns == "research");
  CHECK(std::get<StaticToken>(config->auth).token == "abc");
  CHECK(config->source == "context dev of /home/ann/.kube/config");
  CHECK(config->warnings.empty());
  CHECK_FALSE(config->bypass_proxy);
}

TEST_CASE("IPv6 servers stand in brackets", "[C3]") {
  const auto config = decode("server: \"https://[fd00::1]:6443\"", "");
  REQUIRE(config);
  CHECK(config->server.host == "fd00::1");
  CHECK(authority(config->server) == "[fd00::1]:6443");
  CHECK(std::holds_alternative<std::monostate>(config->auth));
}

TEST_CASE("Relative paths are relative to the file that holds them", "[C3]") {
  const auto config =
      decode(std::string(kServer) + ", certificate-authority: pki/ca.crt",
             "client-certificate: ../c.crt, client-key: /abs/c.key, tokenFile: token");
  REQUIRE(config);
  CHECK(config->tls.ca == PemSource{.file = "/home/ann/.kube/pki/ca.crt"});
  CHECK(config->tls.certificate == PemSource{.file = "/home/ann/c.crt"});
  CHECK(config->tls.key == PemSource{.file = "/abs/c.key"});
  CHECK(std::get<TokenFile>(config->auth).path == "/home/ann/.kube/token");
}

TEST_CASE("Inline data wins over a file", "[C3]") {
  const std::string data = base64_encode("PEM");
  const auto config = decode(
      fmt::format("{}, certificate-authority: ca.crt, certificate-authority-data: {}", kServer,
                  data),
      fmt::format("client-certificate: a, client-certificate-data: {0}, client-key-data: {0}",
                  data));
  REQUIRE(config);
  CHECK(config->tls.ca == PemSource{.data = "PEM"});
  CHECK(config->tls.certificate == PemSource{.data = "PEM"});
  CHECK(config->tls.key == PemSource{.data = "PEM"});
}

TEST_CASE("A token file wins over a token, which stands in until it is read", "[C1][C3]") {
  const auto config = decode(kServer, "token: abc, tokenFile: /t");
  REQUIRE(config);
  const auto& file = std::get<TokenFile>(config->auth);
  CHECK(file.path == "/t");
  CHECK(file.initial == "abc");
}

TEST_CASE("A token wins over an exec plugin", "[C3][C4]") {
  const auto config = decode(
      kServer, "token: abc, exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: x}");
  REQUIRE(config);
  CHECK(std::holds_alternative<StaticToken>(config->auth));
}

TEST_CASE("TLS name, proxy and the insecure flag are read; the last is a loud warning", "[C3]") {
  const auto config =
      decode(std::string(kServer) +
                 ", tls-server-name: api.example.com, insecure-skip-tls-verify: true,"
                 " proxy-url: \"http://proxy:3128\"",
             "token: abc");
  REQUIRE(config);
  CHECK(config->tls.server_name == "api.example.com");
  CHECK(config->tls.insecure);
  CHECK(config->proxy_url == "http://proxy:3128");
  REQUIRE(config->warnings.size() == 1);
  CHECK_THAT(config->warnings[0], Catch::StartsWith("INSECURE"));
  CHECK_THAT(config->warnings[0], Catch::Contains("cluster c of /home/ann/.kube/config"));
}

TEST_CASE("Impersonation is read", "[C3]") {
  const auto config = decode(
      kServer, "as: jane, as-uid: 4711, as-groups: [dev, ops], as-user-extra: {scopes: [a, b]}");
  REQUIRE(config);
  CHECK(config->impersonate == Impersonation{.user = "jane",
                                             .uid = "4711",
                                             .groups = {"dev", "ops"},
                                             .extra = {{"scopes", {"a", "b"}}}});
  check_refused(decode(kServer, "as-groups: [dev]"), "need a user to act as");
}

TEST_CASE("An exec entry is read, its relative command too", "[C3][C4]") {
  const auto config = decode(
      std::string(kServer) +
          ", extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: x, n: "
          "1}}]",
      "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/plugin, args: [a, 1],"
      " env: [{name: K, value: V}], interactiveMode: Never, provideClusterInfo: true,"
      " installHint: get it}");
  REQUIRE(config);
  const auto& exec = std::get<ExecSpec>(config->auth);
  CHECK(exec.command == "/home/ann/.kube/bin/plugin");
  CHECK(exec.arguments == std::vector<std::string>{"a", "1"});
  CHECK(exec.variables == std::vector<ExecVariable>{{.name = "K", .value = "V"}});
  CHECK(exec.api_version == "client.authentication.k8s.io/v1");
  CHECK(exec.interactive == InteractiveMode::kNever);
  CHECK(exec.provide_cluster_info);
  CHECK(exec.install_hint == "get it");
  CHECK(exec.cluster_json == R"({"audience":"x","n":1})");

  const auto beta = decode(kServer,
                           "exec: {apiVersion: client.authentication.k8s.io/v1beta1, args: null,"
                           " command: gke-gcloud-auth-plugin, env: null}");
  REQUIRE(beta);
  CHECK(std::get<ExecSpec>(beta->auth).command == "gke-gcloud-auth-plugin");
  CHECK(std::get<ExecSpec>(beta->auth).interactive == InteractiveMode::kIfAvailable);
}

TEST_CASE("Bad kubeconfig fields are refused with their place and never quoted", "[C3][C4]") {
  const std::string server(kServer);
  const auto exec = [](std::string_view fields) { return fmt::format("exec: {{{}}}", fields); };
  check_refused(decode("", ""), "server: missing");
  check_refused(decode("server: 10.0.0.1", ""), "server: \"10.0.0.1\" is not an address");
  check_refused(decode("server: \"https://u:p@h\"", ""), "user or password");
  check_refused(decode("server: [a]", ""), "server: expected text, found a list");
  check_refused(decode(server + ", insecure-skip-tls-verify: yes", ""), "expected true or false");
  check_refused(decode(server + ", insecure-skip-tls-verify: true, certificate-authority: a", ""),
                "contradicts certificate-authority");
  check_refused(decode(server + ", certificate-authority-data: \"s3cret!\"", ""), "not base64");
  check_refused(decode(server, "client-certificate: a"), "client-key: missing");
  check_refused(decode(server, "client-key: a"), "client-certificate: missing");
  check_refused(decode(server, "auth-provider: {name: gcp}"), "gke-gcloud-auth-plugin");
  check_refused(decode(server, "username: a, password: b"), "basic authentication is gone");
  check_refused(decode(server, "as-groups: dev"), "expected a list, found text");
  check_refused(decode(server, "as: a, as-user-extra: [x]"), "expected a map, found a list");
  check_refused(decode(server, exec("apiVersion: client.authentication.k8s.io/v1")),
                "command: missing");
  check_refused(
      decode(server, exec("command: x, apiVersion: client.authentication.k8s.io/v1alpha1")),
      "v1alpha1 is gone");
  check_refused(decode(server, exec("command: x, apiVersion: client.authentication.k8s.io/v1")),
                "interactiveMode: expected Never, IfAvailable or Always");
  check_refused(decode(server, exec("command: x, env: [{name: a=b}],"
                                    "apiVersion: client.authentication.k8s.io/v1beta1")),
                "expected the name of a variable");
  CHECK(decode(server + ", certificate-authority-data: \"s3cret!\"", "")
            .error()
            .context.find("s3cret") == std::string::npos);
}

TEST_CASE("An unknown context, cluster or user names the files and the known names", "[C3]") {
  const std::vector<KubeconfigFile> files = {
      {.path = "/a",
       .text = "contexts:\n- {name: one, context: {cluster: c, user: ghost}}\n"
               "- {name: two, context: {cluster: ghost, user: u}}\n"},
      {.path = "/b", .text = "clusters:\n- {name: c, cluster: {server: \"https://h\"}}\n"}};
  const auto check = [&](std::string_view context, const std::string& expected) {
    const auto config = merge_kubeconfig(files, context);
    REQUIRE_FALSE(config);
    CHECK(config.error().context == expected);
  };
  check("three", "/a, /b: there is no context \"three\"; known: one, two");
  check("two", "/a, /b: there is no cluster \"ghost\"; known: c");
  check("one", "/a, /b: there is no user \"ghost\"; known: none");
  check("",
        "/a, /b: current-context is not set; give --context, or run 'kubectl config use-context "
        "NAME'; known: one, two");
}

TEST_CASE("Of several kubeconfig files the first wins, entry by entry", "[C3]") {
  const std::vector<KubeconfigFile> files = {
      {.path = "/1/config", .text = "users:\n- {name: u, user: {tokenFile: t}}\n"},
      {.path = "/2/config",
       .text = "current-context: x\ncontexts:\n- {name: x, context: {cluster: c, user: u}}\n"
               "users:\n- {name: u, user: {token: second, as: jane}}\n"},
      {.path = "/3/config",
       .text = "current-context: y\nclusters:\n- {name: c, cluster: {server: \"https://h\"}}\n"
               "contexts:\n- {name: x, context: {cluster: other}}\n"}};
  const auto config = merge_kubeconfig(files, "");
  REQUIRE(config);
  CHECK(config->source == "context x of /2/config");
  CHECK(config->server.host == "h");
  // The whole entry of the first file counts: nothing of the second one's is mixed in.
  CHECK(std::get<TokenFile>(config->auth).path == "/1/t");
  CHECK(std::get<TokenFile>(config->auth).initial.empty());
  CHECK(config->impersonate == Impersonation{});
  CHECK(config->ns == "default");
}

TEST_CASE("What is not a kubeconfig is refused", "[C3]") {
  const auto check = [](std::string_view text, const std::string& expected) {
    const KubeconfigFile file{.path = "/f", .text = std::string(text)};
    const auto config = merge_kubeconfig({&file, 1}, "x");
    REQUIRE_FALSE(config);
    CHECK_THAT(config.error().context, Catch::Contains(expected));
  };
  check("- a\n", "/f: not a kubeconfig: expected a map, found a list");
  check("kind: Pod\n", "/f:1:7: kubeconfig: kind: expected Config");
  check("apiVersion: v2\n", "apiVersion: expected v1");
  check("a: [\n", "/f:");
  check("a: &x [*x]\n", "/f:1:8: an alias refers to the value that contains it");
  check("clusters: {}\n", "clusters: expected a list, found a map");
  check("clusters: [a]\n", "clusters: expected a list of maps");
  check("clusters: [{cluster: {}}]\n", "name: missing");
  check("clusters: [{name: a, cluster: 1}]\n", "cluster: expected a map, found text");
  check("users: [{name: a}, {name: a}]\n", "\"a\" is there twice");
  check("", "there is no context \"x\"; known: none");
}

TEST_CASE("KUBECONFIG is split at colons, empty and repeated parts dropped", "[C3]") {
  CHECK(split_path_list("/a::/b:/a:") == std::vector<std::string>{"/a", "/b"});
  CHECK(split_path_list("").empty());
}

}  // namespace
}  // namespace amdahl::kube
