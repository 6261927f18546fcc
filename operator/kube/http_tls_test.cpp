#include <catch2/catch.hpp>

#include "base/test_certificates.hpp"
#include "operator/kube/test_http_fixture.hpp"

namespace amdahl::kube {
namespace {

using namespace std::chrono_literals;
using testkit::http_ok;
using testkit::Script;

// A server with a certificate, and a client that trusts its authority.
struct TlsFixture : TransportFixture {
  CertificateAuthority authority;
  TlsConfig config;
  std::map<std::string, std::string> files;
  ManualClock file_clock;  // decides when the files are looked at again
  std::unique_ptr<TlsMaterial> material;

  explicit TlsFixture(const CertificateOptions& certificate = {}) {
    config.ca.data = authority.certificate_pem();
    options.server.scheme = "https";
    identity = identity_of(authority.issue(certificate));
  }

  static std::shared_ptr<testkit::TlsIdentity> identity_of(const Certificate& certificate) {
    return testkit::make_tls_identity(certificate.certificate_pem, certificate.key_pem);
  }
  Script answer() { return Script().start_tls(identity).expect().send(http_ok("{}")).forever(); }

  Result<Response> get() {
    if (!material) {
      auto loaded = TlsMaterial::load(
          config,
          [this](const std::string& path, std::size_t) -> Result<std::string> {
            return files[path];
          },
          file_clock);
      REQUIRE(loaded);
      material = std::move(*loaded);
      options.tls = material.get();
      options.server_name = config.server_name;
      options.insecure = config.insecure;
    }
    return send(get_pod());
  }
  // The handshake fails, for this reason.
  void check_refused(std::string_view reason) {
    const auto response = get();
    REQUIRE_FALSE(response);
    INFO(response.error().context);
    CHECK(response.error().code == Errc::kTls);
    CHECK(response.error().context.find("get pods research/llama-0: tls handshake with " +
                                        server.address()) == 0);
    CHECK(response.error().context.find(reason) != std::string::npos);
    CHECK(server.requests().empty());
  }

  std::shared_ptr<testkit::TlsIdentity> identity;
};

TEST_CASE("TLS to an address verifies the address and sends no server name", "[C6]") {
  TlsFixture fixture({.dns_names = {}, .addresses = {"127.0.0.1"}});
  fixture.server.play_always(fixture.answer());
  REQUIRE(fixture.get());
  REQUIRE(fixture.get());
  REQUIRE(fixture.server.handshakes().size() == 1);
  CHECK(fixture.server.handshakes()[0].server_name.empty());
  CHECK_FALSE(fixture.server.handshakes()[0].client_certificate);
}

TEST_CASE("TLS to a name verifies the name and sends it", "[C6]") {
  TlsFixture fixture({.dns_names = {"api.example.com"}, .addresses = {}});
  fixture.config.server_name = "api.example.com";
  fixture.server.play_always(fixture.answer());
  REQUIRE(fixture.get());
  CHECK(fixture.server.handshakes().at(0).server_name == "api.example.com");
}

TEST_CASE("A server that cannot be verified is refused for the right reason", "[C6]") {
  SECTION("another authority") {
    TlsFixture fixture;
    CertificateAuthority other("another");
    fixture.config.ca.data = other.certificate_pem();
    fixture.server.play_always(fixture.answer());
    fixture.check_refused("unknown authority");
  }
  SECTION("another address") {
    TlsFixture fixture({.dns_names = {"localhost"}, .addresses = {"10.0.0.1"}});
    fixture.server.play_always(fixture.answer());
    fixture.check_refused("is not for \"127.0.0.1\"");
  }
  SECTION("another name") {
    TlsFixture fixture({.common_name = "api.example.com", .dns_names = {"www.example.com"}});
    fixture.config.server_name = "api.example.com";  // the subject does not count
    fixture.server.play_always(fixture.answer());
    fixture.check_refused("is not for \"api.example.com\"");
  }
  SECTION("expired") {
    TlsFixture fixture({.valid_from = -48h, .valid_until = -1h});
    fixture.server.play_always(fixture.answer());
    fixture.check_refused("has expired");
  }
  SECTION("not valid yet") {
    TlsFixture fixture({.valid_from = 1h, .valid_until = 48h});
    fixture.server.play_always(fixture.answer());
    fixture.check_refused("not valid yet");
  }
  SECTION("TLS 1.1") {
    TlsFixture fixture;
    testkit::limit_to_tls_1_1(*fixture.identity);
    fixture.server.play_always(fixture.answer());
    fixture.check_refused("the server does not speak TLS 1.2 or newer");
  }
  SECTION("TLS 1.0, without asking what we speak") {
    // A ServerHello of that version: random, no session, a cipher suite, no compression.
    const std::string hello =
        std::string("\x03\x01", 2) + std::string(32, 'r') + std::string("\x00\xc0\x0a\x00", 4);
    const std::string message = std::string("\x02\x00\x00", 3) + static_cast<char>(hello.size());
    const std::string record =
        std::string("\x16\x03\x01\x00", 4) + static_cast<char>(hello.size() + 4) + message + hello;
    TlsFixture fixture;
    fixture.server.play_always(Script().send(record).silence());
    fixture.check_refused("the server does not speak TLS 1.2 or newer");
  }
  SECTION("plain text") {
    TlsFixture fixture;
    fixture.server.play_always(Script().send("HTTP/1.1 400 Bad Request\r\n\r\n").silence());
    fixture.check_refused("does not speak TLS");
  }
}

TEST_CASE("Without verification any certificate is accepted", "[C6]") {
  TlsFixture fixture({.dns_names = {"other"}, .addresses = {}});
  CertificateAuthority other("another");
  fixture.config.ca.data = other.certificate_pem();
  fixture.config.insecure = true;
  fixture.server.play_always(fixture.answer());
  CHECK(fixture.get());
}

TEST_CASE("A connection that ends in the handshake may be tried again", "[C6]") {
  TlsFixture fixture;
  fixture.server.play_always(Script().close());
  const auto response = fixture.get();
  REQUIRE_FALSE(response);
  CHECK(response.error().code == Errc::kIo);
}

TEST_CASE("A TLS server that says nothing costs one deadline", "[L8]") {
  TlsFixture fixture;
  fixture.server.play_always(Script().silence());
  const auto loaded = TlsMaterial::load(fixture.config, {}, fixture.clock);
  REQUIRE(loaded);
  fixture.options.tls = loaded->get();
  const auto response = fixture.send(get_pod(), 50ms);
  REQUIRE_FALSE(response);
  CHECK(response.error().code == Errc::kTimeout);
  CHECK(response.error().context.find("tls handshake") != std::string::npos);
}

TEST_CASE("TLS sessions are resumed", "[C6]") {
  TlsFixture fixture;
  const Script once = Script().start_tls(fixture.identity).expect().send(http_ok("{}")).close();
  fixture.server.play_always(once);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(fixture.get());
    run_until_complete(fixture.io, fixture.clock.sleep_for(5ms));
  }
  REQUIRE(fixture.server.handshakes().size() == 3);
  CHECK_FALSE(fixture.server.handshakes()[0].resumed);
  CHECK(fixture.server.handshakes()[1].resumed);
  CHECK(fixture.server.handshakes()[2].resumed);
  CHECK(fixture.transport().stats().sessions_resumed == 2);
}

TEST_CASE("TLS carries a response in many records, and a cut one is an error", "[C6]") {
  TlsFixture fixture;
  const std::string body(300'000, 'b');
  fixture.server.play(
      Script().start_tls(fixture.identity).expect().send_in_pieces(http_ok(body), 777));
  const auto whole = fixture.get();
  REQUIRE(whole);
  CHECK(whole->body == body);
  // No length and no goodbye: whoever cut it here may be an attacker.
  fixture.server.play(
      Script().start_tls(fixture.identity).expect().send("HTTP/1.1 200 OK\r\n\r\nhalf").close());
  const auto cut = fixture.get();
  REQUIRE_FALSE(cut);
  CHECK(cut.error().code == Errc::kIo);
}

TEST_CASE("A client certificate is shown, and its absence explained", "[C6]") {
  TlsFixture fixture;
  const Certificate server = fixture.authority.issue();
  fixture.identity = testkit::make_tls_identity(server.certificate_pem, server.key_pem,
                                                fixture.authority.certificate_pem());
  fixture.server.play_always(fixture.answer());
  SECTION("shown") {
    const Certificate client = fixture.authority.issue({.common_name = "ann"});
    fixture.config.certificate.data = client.certificate_pem;
    fixture.config.key.data = client.key_pem;
    REQUIRE(fixture.get());
    CHECK(fixture.server.handshakes().at(0).client_certificate);
  }
  SECTION("absent") {
    const auto response = fixture.get();
    REQUIRE_FALSE(response);
    INFO(response.error().context);
    CHECK(response.error().code == Errc::kTls);
    CHECK(response.error().context.find("requires a client certificate") != std::string::npos);
  }
}

TEST_CASE("A new authority closes idle connections and is trusted from then on", "[C2]") {
  TlsFixture fixture;
  fixture.config.ca = {.data = "", .file = "ca.crt"};
  fixture.files["ca.crt"] = fixture.authority.certificate_pem();
  fixture.server.play(fixture.answer());
  REQUIRE(fixture.get());
  REQUIRE(fixture.get());
  CHECK(fixture.server.connections() == 1);

  CertificateAuthority next("the next authority");
  const auto identity = TlsFixture::identity_of(next.issue());
  fixture.server.play(Script().start_tls(identity).expect().send(http_ok("{}")).forever());
  fixture.files["ca.crt"] = next.certificate_pem();
  fixture.file_clock.advance(kTlsRecheck + 1s);
  CHECK(fixture.get());
  CHECK(fixture.server.connections() == 2);

  fixture.files["ca.crt"] = "half a certif";  // somebody is writing it just now
  fixture.file_clock.advance(kTlsRecheck + 1s);
  CHECK(fixture.get());
  CHECK(fixture.server.connections() == 2);
}

TEST_CASE("A new client certificate closes every connection, streams too", "[C2]") {
  TlsFixture fixture;
  const std::string head = testkit::chunked_head() + testkit::chunk("x");
  fixture.server.play(fixture.answer());
  REQUIRE(fixture.get());
  fixture.server.play(Script().start_tls(fixture.identity).expect().send(head).silence());
  const auto stream = fixture.open(watch_pods());
  REQUIRE(stream);
  CHECK(*fixture.read(*stream->body) == "x");

  const Certificate client = fixture.authority.issue({.common_name = "ann"});
  REQUIRE(fixture.material->set_client(client.certificate_pem, client.key_pem));
  fixture.server.play(fixture.answer());
  CHECK(fixture.get());
  CHECK(fixture.server.connections() == 3);
  const auto next = fixture.read(*stream->body);
  REQUIRE_FALSE(next);
  CHECK(next.error().code == Errc::kIo);
  CHECK(next.error().context.find("client certificate changed") != std::string::npos);
}

}  // namespace
}  // namespace amdahl::kube
