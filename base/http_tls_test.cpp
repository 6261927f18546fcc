#include <boost/asio/as_tuple.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/http_server.hpp"
#include "base/test_certificates.hpp"
#include "base/test_http_site.hpp"

namespace amdahl {
namespace {
namespace asio = boost::asio;
namespace ssl = asio::ssl;
using namespace std::chrono_literals;
using asio::ip::tcp;
using Catch::Contains;
using Catch::EndsWith;

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::string_view kHello = "GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

// Certificate files that vanish with the test.
class CertificateFiles {
 public:
  CertificateFiles() {
    std::string pattern = (std::filesystem::temp_directory_path() / "amdahl-tls-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    directory_ = pattern;
  }
  ~CertificateFiles() { std::filesystem::remove_all(directory_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name) << text;
    return (directory_ / name).string();
  }
  HttpTlsOptions write(const Certificate& certificate) const {
    return {.certificate_file = write("tls.crt", certificate.certificate_pem),
            .key_file = write("tls.key", certificate.key_pem)};
  }

 private:
  std::filesystem::path directory_;
};

struct TlsAnswer {
  std::string failure;  // of the handshake
  std::string text;
  std::string protocol;
  long serial = 0;  // of the server's certificate
};

struct TlsClient {
  explicit TlsClient(const CertificateAuthority& trusted) : context(ssl::context::tls_client) {
    context.add_certificate_authority(asio::buffer(trusted.certificate_pem()));
    context.set_verify_mode(ssl::verify_peer);
    context.set_verify_callback(ssl::host_name_verification("localhost"));
  }
  void use(const Certificate& certificate) {
    context.use_certificate_chain(asio::buffer(certificate.certificate_pem));
    context.use_private_key(asio::buffer(certificate.key_pem), ssl::context::pem);
  }
  Task<TlsAnswer> ask(asio::io_context& io, std::uint16_t port, std::string request) {
    TlsAnswer answer;
    ssl::stream<tcp::socket> stream(io, context);
    co_await stream.next_layer().async_connect({asio::ip::make_address("127.0.0.1"), port},
                                               asio::use_awaitable);
    auto [failed] = co_await stream.async_handshake(ssl::stream_base::client, kTuple);
    answer.failure = failed ? failed.message() : "";
    if (failed) co_return answer;
    answer.protocol = SSL_get_version(stream.native_handle());
    X509* certificate = SSL_get0_peer_certificate(stream.native_handle());
    answer.serial = ASN1_INTEGER_get(X509_get0_serialNumber(certificate));
    (void)co_await asio::async_write(stream, asio::buffer(request), kTuple);
    auto [end, bytes] =
        co_await asio::async_read(stream, asio::dynamic_buffer(answer.text), kTuple);
    // In TLS 1.3 a refused client certificate shows only here.
    if (end != asio::error::eof) answer.failure = end.message();
    co_return answer;
  }
  TlsAnswer ask(HttpFixture& test, std::string_view request = kHello) {
    return run_until_complete(test.io, ask(test.io, test.server->port(), std::string(request)));
  }
  ssl::context context;
};

TEST_CASE("HttpServer speaks TLS 1.2 and later, and nothing older", "[C6]") {
  CertificateAuthority authority;
  const CertificateFiles files;
  HttpFixture test({.tls = files.write(authority.issue())});
  REQUIRE(test.started);
  const auto ask_with = [&](int version) {
    TlsClient client(authority);
    SSL_CTX_set_cipher_list(client.context.native_handle(), "ALL:@SECLEVEL=0");
    SSL_CTX_set_min_proto_version(client.context.native_handle(), version);
    SSL_CTX_set_max_proto_version(client.context.native_handle(), version);
    return client.ask(test);
  };
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const TlsAnswer answer = ask_with(version);
    CHECK(answer.failure.empty());
    CHECK(answer.protocol == (version == TLS1_2_VERSION ? "TLSv1.2" : "TLSv1.3"));
    CHECK_THAT(answer.text, EndsWith("\r\n\r\nhello"));
  }
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION})
    CHECK(!ask_with(version).failure.empty());
}

TEST_CASE("HttpServer survives clients that do not finish the TLS handshake", "[C6][C8]") {
  CertificateAuthority authority;
  const CertificateFiles files;
  HttpFixture test({.tls = files.write(authority.issue())});
  RawClient plain = test.connect();
  CHECK_THAT(plain.ask(kHello), !Contains("200 OK"));
  RawClient silent = test.connect();
  CHECK(test.until([&] { return test.server->connections() == 1; }));
  test.advance(11s);
  CHECK(silent.receive_all().empty());
  CHECK(test.until([&] { return test.server->connections() == 0; }));
  CHECK_THAT(TlsClient(authority).ask(test).text, EndsWith("hello"));
}

TEST_CASE("HttpServer streams over TLS, pieces larger than a record included") {
  CertificateAuthority authority;
  const CertificateFiles files;
  HttpFixture test({.tls = files.write(authority.issue())});
  const TlsAnswer answer =
      TlsClient(authority).ask(test, "GET /stream?bytes=100000 HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(answer.failure.empty());
  CHECK_THAT(answer.text, EndsWith(std::string(100'000, 'b') + "\r\n0\r\n\r\n"));
  const TlsAnswer refused = TlsClient(authority).ask(
      test, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n" +
                std::string(500'000, 'x'));
  CHECK_THAT(refused.text, Contains("HTTP/1.1 413 "));
}

Task<void> watch_briefly(asio::io_context& io, std::uint16_t port, ssl::context& context) {
  ssl::stream<tcp::socket> stream(io, context);
  co_await stream.next_layer().async_connect({asio::ip::make_address("127.0.0.1"), port},
                                             asio::use_awaitable);
  co_await stream.async_handshake(ssl::stream_base::client, asio::use_awaitable);
  const std::string request = "GET /watch HTTP/1.1\r\nHost: x\r\n\r\n";
  co_await asio::async_write(stream, asio::buffer(request), asio::use_awaitable);
  std::string text;
  while (!text.ends_with("event\n\r\n")) {
    char c = 0;
    co_await asio::async_read(stream, asio::buffer(&c, 1), asio::use_awaitable);
    text.push_back(c);
  }
}

TEST_CASE("HttpServer stops a stream whose TLS client has gone", "[Q6]") {
  CertificateAuthority authority;
  const CertificateFiles files;
  HttpFixture test({.tls = files.write(authority.issue())});
  TlsClient client(authority);
  run_until_complete(test.io, watch_briefly(test.io, test.server->port(), client.context));
  CHECK(test.until([&] { return test.server->connections() == 0; }));
  REQUIRE(test.site.outcomes.size() == 3);
  CHECK(test.site.outcomes[2].error().code == Errc::kCancelled);
}

TEST_CASE("HttpServer takes a new certificate from disk without a restart", "[C2]") {
  CertificateAuthority authority;
  const CertificateFiles files;
  HttpFixture test({.tls = files.write(authority.issue())});
  TlsClient client(authority);
  const long first = client.ask(test).serial;
  files.write(authority.issue());
  CHECK(client.ask(test).serial == first);  // not looked at yet
  test.advance(10s);
  CHECK(client.ask(test).serial == first + 1);
  CHECK_THAT(test.log_text, Contains("server certificate reloaded"));
  SECTION("a broken file changes nothing") {
    files.write("tls.crt", "half a certificate");
    test.advance(10s);
    CHECK(client.ask(test).serial == first + 1);
    CHECK_THAT(test.log_text, Contains("the old one stays"));
  }
  SECTION("a certificate without its key changes nothing") {
    files.write("tls.crt", authority.issue().certificate_pem);
    test.advance(10s);
    CHECK(client.ask(test).serial == first + 1);
    files.write(authority.issue());
    test.advance(10s);
    CHECK(client.ask(test).serial == first + 3);
  }
}

TEST_CASE("HttpServer verifies client certificates and names who came", "[C6]") {
  CertificateAuthority authority("servers");
  CertificateAuthority clients("clients");
  CertificateAuthority strangers("strangers");
  const bool required = GENERATE(false, true);
  const CertificateFiles files;
  HttpTlsOptions tls = files.write(authority.issue());
  tls.client_ca_file = files.write("ca.crt", clients.certificate_pem());
  tls.client_certificate_required = required;
  HttpFixture test({.tls = tls});
  REQUIRE(test.started);

  TlsClient known(authority);
  known.use(clients.issue({.common_name = "scheduler", .organization = "system:masters"}));
  CHECK_THAT(known.ask(test).text, EndsWith("hello"));
  CHECK(test.site.last.client_name == "scheduler");
  CHECK(test.site.last.client_groups == std::vector<std::string>{"system:masters"});

  TlsClient nameless(authority);
  const TlsAnswer without = nameless.ask(test);
  CHECK(without.failure.empty() == !required);
  if (!required) CHECK(test.site.last.client_name.empty());

  const std::size_t before = test.site.seen.size();
  TlsClient stranger(authority);
  stranger.use(strangers.issue({.common_name = "scheduler"}));
  CHECK_FALSE(stranger.ask(test).failure.empty());
  TlsClient expired(authority);
  expired.use(clients.issue({.valid_from = -2h, .valid_until = -1h}));
  CHECK_FALSE(expired.ask(test).failure.empty());
  CHECK(test.site.seen.size() == before);
}

TEST_CASE("HttpServer names the file when its certificate is not usable") {
  CertificateAuthority authority;
  const CertificateFiles files;
  const HttpTlsOptions good = files.write(authority.issue());
  const auto error_of = [](HttpTlsOptions tls) {
    HttpFixture test({.tls = std::move(tls)});
    REQUIRE_FALSE(test.started);
    return test.started.error().context;
  };
  HttpTlsOptions missing = good;
  missing.key_file = "/nonexistent/tls.key";
  CHECK(error_of(missing) == "open /nonexistent/tls.key: No such file or directory");
  HttpTlsOptions other = good;
  other.key_file = files.write("other.key", authority.issue().key_pem);
  CHECK_THAT(error_of(other), Contains("other.key"));
  HttpTlsOptions bad = good;
  bad.certificate_file = files.write("bad.crt", "bad");
  CHECK_THAT(error_of(bad), Contains("use certificate") && Contains("bad.crt"));
  HttpTlsOptions no_ca = good;
  no_ca.client_ca_file = files.write("ca.crt", "bad");
  CHECK_THAT(error_of(no_ca), Contains("ca.crt"));
}

}  // namespace
}  // namespace amdahl
