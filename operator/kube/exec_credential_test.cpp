// The pure half of exec_plugin.hpp.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "operator/kube/base64.hpp"
#include "operator/kube/exec_plugin.hpp"

namespace amdahl::kube {
namespace {

constexpr std::string_view kV1 = "client.authentication.k8s.io/v1";
constexpr std::string_view kV1Beta1 = "client.authentication.k8s.io/v1beta1";
const WallTime kNow = *parse_time("2026-11-16T08:00:00Z");

std::string printed(std::string_view status, std::string_view version = kV1) {
  return fmt::format(R"({{"apiVersion":"{}","kind":"ExecCredential","status":{}}})", version,
                     status);
}

TEST_CASE("What a plugin prints becomes a credential, in both versions", "[C4]") {
  for (const std::string_view version : {kV1, kV1Beta1}) {
    const auto credential = parse_exec_credential(
        printed(R"({"token":" abc\n","expirationTimestamp":"2026-11-16T09:00:00Z","new":1})",
                version),
        version, kNow);
    REQUIRE(credential);
    CHECK(credential->token == "abc");
    CHECK(credential->expires == parse_time("2026-11-16T09:00:00Z").value());
  }
  const auto pair = parse_exec_credential(
      printed(R"({"clientCertificateData":"C","clientKeyData":"K","token":null})"), kV1, kNow);
  REQUIRE(pair);
  CHECK(pair->token.empty());
  CHECK(pair->certificate == "C");
  CHECK(pair->key == "K");
  CHECK_FALSE(pair->expires);
}

TEST_CASE("Bad plugin output is refused and never quoted", "[C4]") {
  const auto check = [](const std::string& json, const std::string& expected) {
    INFO(json.substr(0, 200));
    const auto credential = parse_exec_credential(json, kV1, kNow);
    REQUIRE_FALSE(credential);
    CHECK_THAT(credential.error().context, Catch::Contains(expected));
    CHECK(credential.error().context.find("s3cret") == std::string::npos);
  };
  check("", "not an ExecCredential");
  check("s3cret", "not an ExecCredential");
  check("{\"apiVersion\": \"s3cret", "not an ExecCredential");
  check("[]", "not an ExecCredential");
  check("{}", "apiVersion");
  check(std::string(100'000, '['), "not an ExecCredential");
  check(R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"Secret"})", "another kind");
  check(printed(R"({"token":"s3cret"})", kV1Beta1), "another apiVersion than");
  check(printed(R"({"token":"s3cret"})", "s3cret"), "another apiVersion than");
  check(printed("null"), "no status");
  check(R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential"})", "no status");
  check(printed("{}"), "neither a token nor a certificate");
  check(printed(R"({"token":["s3cret"]})"), "status.token: expected a string");
  check(printed(R"({"token":"s3cret\ns3cret"})"), "line break");
  check(printed(R"({"token":"t","clientKeyData":"s3cret"})"), "not both");
  check(printed(R"({"clientCertificateData":"s3cret"})"), "not both");
  check(printed(R"({"token":"t","expirationTimestamp":"s3cret"})"), "expirationTimestamp");
  check(printed(R"({"token":"s3cret","expirationTimestamp":"2026-11-16T08:00:00Z"})"),
        "expired at 2026-11-16T08:00:00Z");
}

Config exec_config() {
  Config config;
  config.server = *parse_url("https://10.0.0.1:6443");
  config.auth = ExecSpec{.command = "plugin", .api_version = std::string(kV1)};
  return config;
}

TEST_CASE("A plugin is told whether it may ask and, if it wants, which cluster it is for", "[C4]") {
  Config config = exec_config();
  CHECK(nlohmann::json::parse(exec_info(config, "CA", true)) == nlohmann::json::parse(R"({
      "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
      "spec": {"interactive": true}})"));

  auto& spec = std::get<ExecSpec>(config.auth);
  spec.provide_cluster_info = true;
  spec.cluster_json = R"({"audience":"x"})";
  config.tls.server_name = "api";
  config.proxy_url = "http://p:1";
  CHECK(nlohmann::json::parse(exec_info(config, "CA", false)) == nlohmann::json::parse(R"({
      "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
      "spec": {"interactive": false, "cluster": {"server": "https://10.0.0.1:6443",
        "tls-server-name": "api", "proxy-url": "http://p:1", "config": {"audience": "x"},
        "certificate-authority-data": "Q0E="}}})"));
}

TEST_CASE("The interactive mode decides who gets the terminal", "[C4]") {
  const auto check = [](InteractiveMode mode, bool terminal) {
    return plugin_interacts({.interactive = mode}, {.terminal = terminal});
  };
  CHECK_FALSE(*check(InteractiveMode::kNever, true));
  CHECK(*check(InteractiveMode::kIfAvailable, true));
  CHECK_FALSE(*check(InteractiveMode::kIfAvailable, false));
  CHECK(*check(InteractiveMode::kAlways, true));
  const auto impossible = check(InteractiveMode::kAlways, false);
  REQUIRE_FALSE(impossible);
  CHECK(impossible.error().code == Errc::kUnauthorized);
  CHECK_THAT(impossible.error().context, Catch::Contains("interactiveMode: Always"));
  CHECK_THAT(impossible.error().context, Catch::Contains("standard input is not a terminal"));
}

TEST_CASE("A plugin is found in the absolute parts of PATH, or by its own path", "[C4]") {
  const Environment environment{.variables = {{"PATH", ".:bin:/no/such/dir:/usr/bin:/bin"}}};
  CHECK(find_plugin({.command = "env"}, {}, environment).value() == "/usr/bin/env");
  CHECK(find_plugin({.command = "/usr/bin/env"}, {}, {}).value() == "/usr/bin/env");
  CHECK_FALSE(find_plugin({.command = "env"}, {}, {}));
  const auto missing = find_plugin(
      {.command = "no-such-plugin", .install_hint = "Run: apt install it."}, {}, environment);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == Errc::kNotFound);
  CHECK(missing.error().context == "there is no such program in PATH. Run: apt install it.");
}

TEST_CASE("With an allow-list only what it names may run", "[C4]") {
  const Environment environment{.variables = {{"PATH", "/usr/bin"}}};
  const auto permitted = [&](const std::string& command, std::vector<std::string> allowed) {
    const auto path = find_plugin({.command = command},
                                  {.allow_all = false, .allowed = std::move(allowed)}, environment);
    if (!path) CHECK(path.error().code == Errc::kForbidden);
    return path.has_value();
  };
  CHECK(permitted("env", {"env"}));
  CHECK(permitted("env", {"/usr/bin/env"}));
  CHECK(permitted("/usr/bin/env", {"ls", "env"}));
  CHECK_FALSE(permitted("env", {}));
  CHECK_FALSE(permitted("env", {"ls"}));
  CHECK_FALSE(permitted("env", {"nowhere"}));
  CHECK_FALSE(permitted("/usr/bin/../bin/env", {"/usr/bin/env"}));  // spelled as it is listed
}

}  // namespace
}  // namespace amdahl::kube
