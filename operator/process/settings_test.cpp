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

}  // namespace
}  // namespace amdahl
