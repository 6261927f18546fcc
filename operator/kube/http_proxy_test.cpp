#include <catch2/catch.hpp>

#include "base/test_certificates.hpp"
#include "operator/kube/test_http_fixture.hpp"

namespace amdahl::kube {
namespace {

using testkit::http_ok;
using testkit::Script;

constexpr std::string_view kConnected = "HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n";
constexpr std::string_view kProxySecret = "Basic cHJveHk6cGFzc3dvcmQ=";

// The scripted server plays both: the proxy, and after CONNECT the server behind it.
struct ProxyFixture : TransportFixture {
  CertificateAuthority authority;
  std::unique_ptr<TlsMaterial> material;
  std::shared_ptr<testkit::TlsIdentity> api = identity("api.internal");
  std::shared_ptr<testkit::TlsIdentity> proxy = identity("localhost");

  ProxyFixture() {
    options.server = Url{.scheme = "https",
                         .host = "api.internal",  // nobody can resolve this: the proxy does
                         .port = 6443,
                         .base_path = "",
                         .user = "",
                         .password = ""};
    options.proxy = ProxyTarget{.tls = false,
                                .host = "127.0.0.1",
                                .port = server.port(),
                                .authorization = std::string(kProxySecret),
                                .origin = "proxy-url"};
    TlsConfig config;
    config.ca.data = authority.certificate_pem();
    material = *TlsMaterial::load(config, {}, clock);
    options.tls = material.get();
  }
  std::shared_ptr<testkit::TlsIdentity> identity(const std::string& name) {
    const Certificate certificate = authority.issue({.dns_names = {name}});
    return testkit::make_tls_identity(certificate.certificate_pem, certificate.key_pem);
  }
};

TEST_CASE("A proxy is asked for a tunnel with its credentials, and TLS goes through it", "[C5]") {
  ProxyFixture fixture;
  fixture.server.play(Script()
                          .expect()
                          .send(std::string(kConnected))
                          .start_tls(fixture.api)
                          .expect()
                          .send(http_ok("{}"))
                          .expect()
                          .send(http_ok("{}")));
  REQUIRE(fixture.send(get_pod()));
  REQUIRE(fixture.send(get_pod()));
  const auto& requests = fixture.server.requests();
  REQUIRE(requests.size() == 3);
  CHECK(requests[0].head ==
        "CONNECT api.internal:6443 HTTP/1.1\r\nHost: api.internal:6443\r\n"
        "Proxy-Authorization: " +
            std::string(kProxySecret) + "\r\n\r\n");
  CHECK(requests[0].header("Authorization").empty());  // the token is not for the proxy
  CHECK(requests[1].header("Host") == "api.internal:6443");
  CHECK(requests[1].header("Proxy-Authorization").empty());
  CHECK(fixture.server.handshakes().at(0).server_name == "api.internal");
}

TEST_CASE("An https proxy is spoken to in TLS, with the server's TLS inside", "[C5][C6]") {
  ProxyFixture fixture;
  fixture.options.proxy->tls = true;
  const std::string body(100'000, 'b');
  fixture.server.play(Script()
                          .start_tls(fixture.proxy)
                          .expect()
                          .send(std::string(kConnected))
                          .start_tls(fixture.api)
                          .expect()
                          .send_in_pieces(http_ok(body), 9999)
                          .expect()
                          .send(http_ok("{}")));
  const auto response = fixture.send(get_pod());
  REQUIRE(response);
  CHECK(response->body == body);
  CHECK(fixture.send(get_pod()));
  CHECK(fixture.server.connections() == 1);
  CHECK(fixture.server.handshakes().at(0).server_name.empty());  // 127.0.0.1
  CHECK(fixture.server.handshakes().at(1).server_name == "api.internal");
}

TEST_CASE("What a proxy refuses is said with its address and without its password", "[C5]") {
  struct Row {
    std::string answer;
    Errc code;
    std::string_view text;
  };
  for (const Row& row :
       {Row{"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", Errc::kUnauthorized, "(407)"},
        Row{"HTTP/1.1 403 Forbidden\r\n\r\n", Errc::kForbidden, "answered 403"},
        Row{"HTTP/1.1 503 Busy\r\n\r\n", Errc::kUnavailable, "answered 503"},
        Row{"SOCKS?", Errc::kCorrupt, "not HTTP"}, Row{"", Errc::kIo, "closed"}}) {
    ProxyFixture fixture;
    fixture.server.play(Script().expect().send(row.answer));
    const auto response = fixture.send(get_pod());
    REQUIRE_FALSE(response);
    INFO(response.error().context);
    CHECK(response.error().code == row.code);
    CHECK(response.error().context.find("proxy " + fixture.server.address()) != std::string::npos);
    CHECK(response.error().context.find(row.text) != std::string::npos);
    CHECK(response.error().context.find("cHJveHk6") == std::string::npos);
    CHECK(response.error().context.find(kSecret) == std::string::npos);
  }
}

TEST_CASE("A server behind a proxy is verified by its own name", "[C5][C6]") {
  ProxyFixture fixture;
  fixture.server.play(
      Script().expect().send(std::string(kConnected)).start_tls(fixture.proxy).expect());
  const auto response = fixture.send(get_pod());
  REQUIRE_FALSE(response);
  CHECK(response.error().code == Errc::kTls);
  CHECK(response.error().context.find("is not for \"api.internal\"") != std::string::npos);
}

}  // namespace
}  // namespace amdahl::kube
