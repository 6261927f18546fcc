#include "operator/kube/proxy.hpp"

#include <catch2/catch.hpp>

namespace amdahl::kube {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

// "host:port" of the proxy, "direct", or "error".
std::string chosen(std::string_view url, const Variables& variables,
                   std::string_view config_proxy_url = "") {
  const Environment environment{.variables = variables};
  const auto proxy = choose_proxy(*parse_url(url), environment, config_proxy_url);
  if (!proxy) return "error";
  return *proxy ? fmt::format("{}:{}", (*proxy)->host, (*proxy)->port) : "direct";
}

TEST_CASE("The scheme of the server picks the proxy variable", "[C5]") {
  const Variables both = {{"HTTPS_PROXY", "http://secure:1"}, {"HTTP_PROXY", "http://plain:2"}};
  CHECK(chosen("https://k8s", both) == "secure:1");
  CHECK(chosen("http://k8s", both) == "plain:2");
  CHECK(chosen("https://k8s", {}) == "direct");
  CHECK(chosen("https://k8s", {{"HTTP_PROXY", "http://plain:2"}}) == "direct");
  CHECK(chosen("https://k8s", {{"https_proxy", "http://lower:3"}}) == "lower:3");
  CHECK(chosen("https://k8s",
               {{"https_proxy", "http://lower:3"}, {"HTTPS_PROXY", "http://up:4"}}) == "up:4");
}

TEST_CASE("NO_PROXY is read as Go reads it", "[C5]") {
  struct Row {
    std::string_view url;
    std::string_view no_proxy;
    bool direct = false;
  };
  const Row rows[] = {
      {"https://k8s.example.com", "", false},
      {"https://k8s.example.com", "example.com", true},
      {"https://example.com", "example.com", true},
      {"https://k8s.example.com", ".example.com", true},
      {"https://example.com", ".example.com", false},
      {"https://example.com", "*.example.com", false},
      {"https://k8s.example.com", "*.example.com", true},
      {"https://badexample.com", "example.com", false},
      {"https://k8s.example.com", "K8S.Example.COM", true},
      {"https://k8s.example.com", " a.org , example.com ,", true},
      {"https://k8s.example.com", "*", true},
      {"https://k8s.example.com:6443", "example.com:6443", true},
      {"https://k8s.example.com:6443", "example.com:443", false},
      {"https://k8s.example.com", "example.com:443", true},
      {"https://10.1.2.3", "10.1.2.3", true},
      {"https://10.1.2.3", "10.1.2.4", false},
      {"https://10.1.2.3:6443", "10.1.2.3:6443", true},
      {"https://10.1.2.3:6443", "10.1.2.3:1", false},
      {"https://10.1.2.3", "10.0.0.0/8", true},
      {"https://11.1.2.3", "10.0.0.0/8", false},
      {"https://10.1.2.3", "10.1.2.3/32", true},
      {"https://10.1.2.3", "fd00::/8", false},
      {"https://host10", "10.0.0.0/8", false},
      {"https://[fd00::1]", "fd00::/8", true},
      {"https://[fe00::1]", "fd00::/8", false},
      {"https://[fd00::1]", "10.0.0.0/8", false},
      {"https://[fd00::1]", "fd00::1", true},
      {"https://[fd00:0::0:1]", "fd00::1", true},
      {"https://[fd00::1]:6443", "[fd00::1]:6443", true},
      {"https://[fd00::1]:6443", "[fd00::1]:443", false},
      {"https://[fd00::1]", "[fd00::1]", true},
      {"https://[::ffff:10.1.2.3]", "10.1.2.3", true},
      {"https://10.1.2.3", "10.0.0.0/99", false},
      {"https://10.1.2.3", ":443", false},
      {"https://10.1.2.3", ",,", false},
      {"https://localhost:6443", "", true},
      {"https://127.0.0.1:6443", "", true},
      {"https://[::1]:6443", "", true},
  };
  for (const Row& row : rows) {
    INFO(row.url << " NO_PROXY=" << row.no_proxy);
    const std::string proxy =
        chosen(row.url, {{"HTTPS_PROXY", "http://p:1"}, {"NO_PROXY", std::string(row.no_proxy)}});
    CHECK(proxy == (row.direct ? "direct" : "p:1"));
  }
  CHECK(chosen("https://h", {{"HTTPS_PROXY", "http://p:1"}, {"no_proxy", "h"}}) == "direct");
}

TEST_CASE("proxy-url of the kubeconfig wins over everything", "[C5]") {
  CHECK(chosen("https://h", {{"HTTPS_PROXY", "http://p:1"}, {"NO_PROXY", "*"}}, "http://mine:2") ==
        "mine:2");
}

TEST_CASE("A proxy address gives host, port, TLS and Basic credentials", "[C5]") {
  const auto proxy = choose_proxy(*parse_url("https://h"), {}, "https://ann:s%40cret@proxy.corp");
  REQUIRE(proxy);
  CHECK(**proxy == ProxyTarget{.tls = true,
                               .host = "proxy.corp",
                               .port = 443,
                               .authorization = "Basic YW5uOnNAY3JldA==",
                               .origin = "proxy-url"});
  const auto bare = choose_proxy(*parse_url("https://h"),
                                 {.variables = {{"HTTPS_PROXY", "proxy.corp:3128"}}}, "");
  REQUIRE(bare);
  CHECK(**bare == ProxyTarget{.host = "proxy.corp", .port = 3128, .origin = "HTTPS_PROXY"});
  CHECK(chosen("https://h", {{"HTTPS_PROXY", "http://[fd00::1]:3128"}}) == "fd00::1:3128");
}

TEST_CASE("Proxies that cannot be used are refused without their password", "[C5]") {
  for (const char* text : {"socks5://ann:s3cret@p:1080", "socks5h://p", "ftp://p", "http://", "a b",
                           "http://ann:s3cret@p p"}) {
    INFO(text);
    const auto proxy = choose_proxy(*parse_url("https://h"), {}, text);
    REQUIRE_FALSE(proxy);
    CHECK(proxy.error().code == Errc::kInvalid);
    CHECK_THAT(proxy.error().context, Catch::StartsWith("proxy-url: "));
    CHECK(proxy.error().context.find("s3cret") == std::string::npos);
  }
  const auto socks = choose_proxy(*parse_url("https://h"), {}, "socks5://p");
  CHECK_THAT(socks.error().context, Catch::Contains("socks5 proxies are not supported"));
}

TEST_CASE("The in-cluster address never goes through a proxy", "[C5]") {
  Config config{.server = *parse_url("https://10.96.0.1"), .proxy_url = "", .bypass_proxy = true};
  const Environment environment{.variables = {{"HTTPS_PROXY", "http://p:1"}}};
  const auto direct = choose_proxy(config, environment);
  REQUIRE(direct);
  CHECK_FALSE(*direct);
  config.bypass_proxy = false;
  CHECK(choose_proxy(config, environment)->has_value());
}

}  // namespace
}  // namespace amdahl::kube
