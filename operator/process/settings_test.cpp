#include "operator/process/settings.hpp"

#include <catch2/catch.hpp>

namespace amdahl {
namespace {

Reading read(std::vector<const char*> words) {
  words.insert(words.begin(), "amdahl-operator");
  return read_settings(words);
}

TEST_CASE("amdahl-operator: without flags it elects a leader and listens on loopback") {
  const Reading reading = read({});
  REQUIRE(reading.settings);
  const auto options = operator_options(*reading.settings, "amdahl-system", "pod-x7k2p");
  REQUIRE(options);
  REQUIRE(options->election);
  CHECK(options->election->lease.ns == "amdahl-system");
  CHECK(options->election->lease.name == "amdahl-operator");
  CHECK(options->election->identity == "pod-x7k2p");
  CHECK(options->status.probes.address == "127.0.0.1");
  CHECK(options->report.port == 8082);
  CHECK_FALSE(options->report.tls);
  CHECK(options->ns.empty());
}

TEST_CASE("amdahl-operator: flags") {
  const Reading reading =
      read({"--no-leader-election", "-n", "research", "--report-address", "0.0.0.0:8443",
            "--report-cert", "c", "--report-key", "k", "--report-url", "https://r:8443/",
            "--launch-image", "i", "--allow-service-account", "a", "--allow-service-account", "b"});
  INFO(reading.error);
  REQUIRE(reading.settings);
  const auto options = operator_options(*reading.settings, "x", "y");
  REQUIRE(options);
  CHECK_FALSE(options->election);
  CHECK(options->ns == "research");
  CHECK(options->report_url == "https://r:8443");
  REQUIRE(options->report.tls);
  CHECK(options->report.tls->key_file == "k");
  CHECK(options->pods.launch_image == "i");
  CHECK(options->pods.service_accounts == std::vector<std::string>{"a", "b"});
}

TEST_CASE("amdahl-operator: what is wrong is told with its flag") {
  CHECK(read({"--bogus"}).error.find("--bogus") != std::string::npos);
  CHECK(read({"--report-cert", "c"}).error.find("--report-key") != std::string::npos);
  CHECK(read({"--help"}).help.find("--report-address") != std::string::npos);
  CHECK(read({"--version"}).help.starts_with("amdahl-operator "));
  const std::pair<const char*, const char*> rows[] = {{"--probe-address", "8081"},
                                                      {"--probe-address", "127.0.0.1:99999"},
                                                      {"--report-address", "127.0.0.1:x"},
                                                      {"--report-url", "ftp://r"}};
  for (const auto& [flag, value] : rows) {
    CAPTURE(flag, value);
    const Reading reading = read({flag, value});
    REQUIRE(reading.settings);
    const auto options = operator_options(*reading.settings, "x", "y");
    REQUIRE_FALSE(options);
    CHECK(options.error().context.starts_with(flag));
  }
}

Result<OperatorOptions> options_of(std::vector<const char*> words) {
  const Reading reading = read(std::move(words));
  INFO(reading.error);
  REQUIRE(reading.settings);
  return operator_options(*reading.settings, "x", "y");
}

TEST_CASE("amdahl-operator: tokens of pods do not travel in the clear unless a flag says so",
          "[A10]") {
  for (const char* url : {"http://127.0.0.1:8082", "http://localhost:1", "http://[::1]:8082",
                          "https://amdahl-operator.amdahl-system:8443"})
    CHECK(options_of({"--report-url", url}));
  for (const char* url :
       {"http://amdahl-operator.amdahl-system:8443", "http://127.evil.com", "http://10.0.0.1:80/",
        "http://localhost.evil.com:1", "http://localhost@evil.com:1", "http://[fd00::1]:80"}) {
    CAPTURE(url);
    const auto refused = options_of({"--report-url", url});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().context.find("--allow-plain-reports") != std::string::npos);
    CHECK(options_of({"--report-url", url, "--allow-plain-reports"}));
  }
  CHECK_FALSE(options_of({"--report-address", "0.0.0.0:8082"}));
  CHECK(options_of({"--report-address", "0.0.0.0:8082", "--allow-plain-reports"}));
  // A URL with https does not make the address encrypted.
  const std::vector<const char*> behind_proxy{"--report-url", "https://x", "--report-address",
                                              "0.0.0.0:8443"};
  const auto refused = options_of(behind_proxy);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().context.starts_with("--report-address 0.0.0.0:8443: "));
  CHECK(refused.error().context.find("--allow-plain-reports") != std::string::npos);
  std::vector<const char*> allowed = behind_proxy;
  allowed.push_back("--allow-plain-reports");
  CHECK(options_of(allowed));
  CHECK(
      options_of({"--report-address", "0.0.0.0:8443", "--report-cert", "c", "--report-key", "k"}));
}

TEST_CASE("amdahl-operator: metrics are guarded off loopback unless a flag says so", "[A10]") {
  CHECK_FALSE(options_of({})->guard_metrics);
  CHECK_FALSE(options_of({"--probe-address", "[::1]:8081"})->guard_metrics);
  CHECK(options_of({"--probe-address", "0.0.0.0:8081"})->guard_metrics);
  CHECK_FALSE(options_of({"--probe-address", "0.0.0.0:8081", "--no-metrics-auth"})->guard_metrics);
  // Metrics elsewhere, probes for the kubelet.
  const auto apart =
      options_of({"--probe-address", "0.0.0.0:8081", "--metrics-address", "127.0.0.1:9090"});
  REQUIRE(apart);
  CHECK_FALSE(apart->guard_metrics);
  REQUIRE(apart->status.metrics);
  CHECK(apart->status.metrics->port == 9090);
  CHECK(options_of({"--metrics-address", "0.0.0.0:9090"})->guard_metrics);
}

TEST_CASE("amdahl-operator: its own pod", "[B5]") {
  CHECK(options_of({"--pod", "amdahl-system/amdahl-operator-x7k2p"})->pod ==
        kube::ObjectKey{.ns = "amdahl-system", .name = "amdahl-operator-x7k2p"});
  for (const char* wrong : {"name", "/name", "ns/"}) CHECK_FALSE(options_of({"--pod", wrong}));
}

TEST_CASE("Reports leave descriptors to the API client and the lease", "[A6]") {
  CHECK(reporters_max(1'048'576) == report::kReportersMax);
  CHECK(reporters_max(4'096) == 4'096 - kDescriptorReserve);
  CHECK(reporters_max(1'024) == 512);
  CHECK(reporters_max(256) == 128);
}

}  // namespace
}  // namespace amdahl
