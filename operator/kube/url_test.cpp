#include "operator/kube/url.hpp"

#include <catch2/catch.hpp>

#include "operator/kube/base64.hpp"

namespace amdahl::kube {
namespace {

TEST_CASE("Addresses are taken apart", "[C3]") {
  const auto check = [](std::string_view text, const Url& expected, std::string_view authority_text,
                        std::string_view shown) {
    INFO(text);
    const auto url = parse_url(text);
    REQUIRE(url);
    CHECK(*url == expected);
    CHECK(authority(*url) == authority_text);
    CHECK(to_string(*url) == shown);
  };
  check("https://10.0.0.1:6443", {.host = "10.0.0.1", .port = 6443}, "10.0.0.1:6443",
        "https://10.0.0.1:6443");
  check("https://k8s.Example.com", {.host = "k8s.example.com"}, "k8s.example.com:443",
        "https://k8s.example.com");
  check("HTTP://h/", {.scheme = "http", .host = "h", .port = 80}, "h:80", "http://h");
  check("https://[::1]:6443/a/", {.host = "::1", .port = 6443, .base_path = "/a"}, "[::1]:6443",
        "https://[::1]:6443/a");
  check("https://[2001:DB8::1]", {.host = "2001:db8::1"}, "[2001:db8::1]:443",
        "https://[2001:db8::1]");
  check("https://rancher/k8s/clusters/c%20d",
        {.host = "rancher", .base_path = "/k8s/clusters/c%20d"}, "rancher:443",
        "https://rancher/k8s/clusters/c%20d");
  check("http://ann:s%40cret@p:3128",
        {.scheme = "http", .host = "p", .port = 3128, .user = "ann", .password = "s@cret"},
        "p:3128", "http://p:3128");
}

TEST_CASE("Bad addresses are refused and passwords are not shown", "[C3]") {
  for (const char* text : {"",
                           "10.0.0.1:6443",
                           "host",
                           "ftp://h",
                           "https://",
                           "https:///path",
                           "https://h:0",
                           "https://h:70000",
                           "https://h:x",
                           "https://h o",
                           "https://h?q=1",
                           "https://h#f",
                           "https://::1:6443",
                           "https://[::1",
                           "https://a%20b",
                           "https://h\r\nX: y",
                           "https://h:64x3",
                           "https://1.2.3.4.5",
                           "https://[::1]x",
                           "https://a@b@c"}) {
    INFO(text);
    const auto url = parse_url(text);
    REQUIRE_FALSE(url);
    CHECK(url.error().code == Errc::kInvalid);
  }
  const auto url = parse_url("https://ann:s3cret@ho st");
  REQUIRE_FALSE(url);
  CHECK(url.error().context.find("s3cret") == std::string::npos);
}

TEST_CASE("Base64 goes both ways and refuses what is none", "[C3]") {
  for (const std::string bytes : {"", "a", "ab", "abc", "abcd"}) {
    INFO(bytes);
    CHECK(base64_decode(base64_encode(bytes)) == bytes);
  }
  CHECK(base64_encode("any carnal pleas") == "YW55IGNhcm5hbCBwbGVhcw==");
  CHECK(base64_decode(" YW\n55\tIGNh\r\ncm5h bCBwbGVhcw==\n") == "any carnal pleas");
  CHECK(base64_decode(std::string(1, '\0')) == std::nullopt);
  for (const char* text : {"a", "abc", "a===", "====", "ab=c", "ab!=", "YW55-_=="}) {
    INFO(text);
    CHECK(base64_decode(text) == std::nullopt);
  }
}

}  // namespace
}  // namespace amdahl::kube
