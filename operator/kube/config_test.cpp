#include "operator/kube/config.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>

#include "operator/kube/in_cluster.hpp"
#include "operator/kube/kubeconfig.hpp"

namespace amdahl::kube {
namespace {

using Files = std::map<std::string, std::string>;

// A file system of a few texts; a text of "!" stands for a file that cannot be read.
Environment make_environment(std::map<std::string, std::string, std::less<>> variables,
                             const Files& files) {
  return {
      .variables = std::move(variables),
      .read_file = [files](const std::string& path, std::size_t bytes_max) -> Result<std::string> {
        const auto found = files.find(path);
        if (found == files.end()) return fail(Errc::kNotFound, "read {}: no such file", path);
        if (found->second == "!") return fail(Errc::kIo, "read {}: permission denied", path);
        if (found->second.size() > bytes_max) return fail(Errc::kTooLarge, "{}: large", path);
        return found->second;
      }};
}

std::string config_named(std::string_view host) {
  return fmt::format(
      "current-context: x\ncontexts:\n- {{name: x, context: {{cluster: c}}}}\n"
      "clusters:\n- {{name: c, cluster: {{server: \"https://{}\"}}}}\n",
      host);
}

constexpr const char* kDir = "/var/run/secrets/kubernetes.io/serviceaccount";

Files pod_files() {
  const std::string dir(kDir);
  return {{dir + "/token", "t"}, {dir + "/ca.crt", "PEM"}, {dir + "/namespace", "research\n"}};
}

std::map<std::string, std::string, std::less<>> pod_variables() {
  return {{"KUBERNETES_SERVICE_HOST", "10.96.0.1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
}

TEST_CASE("A pod's service account gives a configuration that bypasses proxies", "[C1][C2][C5]") {
  const auto config = in_cluster_config(make_environment(pod_variables(), pod_files()), kDir);
  REQUIRE(config);
  CHECK(to_string(config->server) == "https://10.96.0.1");
  CHECK(config->ns == "research");
  CHECK(config->tls.ca == PemSource{.file = std::string(kDir) + "/ca.crt"});
  CHECK(std::get<TokenFile>(config->auth).path == std::string(kDir) + "/token");
  CHECK(config->bypass_proxy);
  CHECK(config->warnings.empty());
}

TEST_CASE("An IPv6 service address gets its brackets", "[C3]") {
  auto variables = pod_variables();
  variables["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  const auto config = in_cluster_config(make_environment(variables, pod_files()), kDir);
  REQUIRE(config);
  CHECK(authority(config->server) == "[fd00::1]:443");
  variables["KUBERNETES_SERVICE_PORT"] = "x";
  CHECK_FALSE(in_cluster_config(make_environment(variables, pod_files()), kDir));
}

TEST_CASE("POD_NAMESPACE, then the file, then default name the namespace", "[C3]") {
  auto variables = pod_variables();
  auto files = pod_files();
  files.erase(std::string(kDir) + "/namespace");
  CHECK(in_cluster_config(make_environment(variables, files), kDir)->ns == "default");
  variables["POD_NAMESPACE"] = "mine";
  CHECK(in_cluster_config(make_environment(variables, pod_files()), kDir)->ns == "mine");
}

TEST_CASE("A pod without a token or a CA says so", "[C3]") {
  auto files = pod_files();
  files.erase(std::string(kDir) + "/ca.crt");
  const auto without_ca = in_cluster_config(make_environment(pod_variables(), files), kDir);
  REQUIRE(without_ca);
  CHECK(without_ca->tls.ca.empty());
  CHECK(without_ca->warnings.size() == 1);
  files.erase(std::string(kDir) + "/token");
  const auto without_token = in_cluster_config(make_environment(pod_variables(), files), kDir);
  REQUIRE_FALSE(without_token);
  CHECK(without_token.error().code == Errc::kNotFound);
  CHECK_THAT(without_token.error().context, Catch::Contains("automountServiceAccountToken"));
}

TEST_CASE("The path given, KUBECONFIG, the pod and the home directory come in that order", "[C3]") {
  Files files = pod_files();
  for (const char* name : {"given", "list"}) files[std::string("/") + name] = config_named(name);
  files["/home/ann/.kube/config"] = config_named("home");
  auto variables = pod_variables();
  variables["KUBECONFIG"] = "/missing:/list";
  variables["HOME"] = "/home/ann";
  ConfigOptions options{.kubeconfig = "/given"};
  const auto host = [&] {
    const auto config = load_config(options, make_environment(variables, files));
    return config ? config->server.host : config.error().context;
  };
  CHECK(host() == "given");
  options.kubeconfig.clear();
  CHECK(host() == "list");
  variables["KUBECONFIG"] = "";  // as good as unset
  CHECK(host() == "10.96.0.1");
  files.erase(std::string(kDir) + "/token");
  CHECK(host() == "home");
  variables.erase("KUBERNETES_SERVICE_HOST");
  CHECK(host() == "home");
}

TEST_CASE("Options override namespace and context, and carry the plugin policy", "[C3][C4]") {
  const auto environment =
      make_environment({{"HOME", "/h"}}, {{"/h/.kube/config", config_named("a")}});
  const auto config = load_config(
      {.ns = "mine", .exec_policy = {.allow_all = false, .allowed = {"p"}}}, environment);
  REQUIRE(config);
  CHECK(config->ns == "mine");
  CHECK_FALSE(config->exec_policy.allow_all);
  const auto unknown = load_config({.context = "y"}, environment);
  REQUIRE_FALSE(unknown);
  CHECK_THAT(unknown.error().context, Catch::Contains("there is no context \"y\"; known: x"));
}

TEST_CASE("A kubeconfig that was asked for must be there; of a list, one suffices", "[C3]") {
  const auto check = [](const ConfigOptions& options, const std::string& list, Errc code) {
    const auto environment = make_environment(
        {{"KUBECONFIG", list}, {"HOME", "/h"}},
        {{"/h/.kube/config", config_named("home")}, {"/bad", "!"}, {"/list", config_named("l")}});
    const auto config = load_config(options, environment);
    REQUIRE_FALSE(config);
    CHECK(config.error().code == code);
  };
  check({.kubeconfig = "/missing"}, "/list", Errc::kNotFound);
  check({}, "/missing:/gone", Errc::kNotFound);
  check({}, "/bad:/list", Errc::kIo);
}

TEST_CASE("Without any configuration the error says what was tried and what to do", "[C3]") {
  const auto config = load_config({}, make_environment({{"HOME", "/h"}}, {}));
  REQUIRE_FALSE(config);
  CHECK(config.error().code == Errc::kNotFound);
  for (const char* part : {"KUBECONFIG", "not in a pod", "/h/.kube/config", "Give --kubeconfig"})
    CHECK_THAT(config.error().context, Catch::Contains(part));
}

TEST_CASE("Reading a file is bounded and tells missing from unreadable", "[C3]") {
  CHECK(read_file("/proc/self/no-such-file", 10).error().code == Errc::kNotFound);
  CHECK(read_file("/proc/self/status", 10).error().code == Errc::kTooLarge);
  CHECK(read_file("/proc", 10).error().code == Errc::kIo);
  CHECK(read_file("/dev/null", 10).value().empty());
}

TEST_CASE("A kubeconfig may come from a pipe", "[C3]") {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::write(ends[1], "text", 4) == 4);
  ::close(ends[1]);
  CHECK(read_file(fmt::format("/proc/self/fd/{}", ends[0]), 10).value() == "text");
  ::close(ends[0]);
}

}  // namespace
}  // namespace amdahl::kube
