// The policy of a client's side of TLS, proven against a server in memory that keeps none.
#include "operator/kube/tls_context.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <catch2/catch.hpp>

#include "base/test_certificates.hpp"

namespace amdahl::kube {
namespace {
namespace asio = boost::asio;

// A client of ours and a server, joined by a pair of buffers.
struct Pair {
  CertificateAuthority authority = CertificateAuthority();
  Certificate certificate = authority.issue();
  std::shared_ptr<TlsContext> context;
  asio::ssl::context server_context{asio::ssl::context::tls_server};
  SslPtr client;
  SslPtr server;

  // As permissive as OpenSSL can be, so that what is refused is refused by our policy.
  explicit Pair(int server_version_max) {
    auto made =
        TlsContext::make({.ca = authority.certificate_pem(), .certificate = {}, .key = {}}, false);
    REQUIRE(made);
    context = *made;
    auto side = context->client("localhost");
    REQUIRE(side);
    client = std::move(*side);
    SSL_set_security_level(client.get(), 0);

    server_context.use_certificate_chain(asio::buffer(certificate.certificate_pem));
    server_context.use_private_key(asio::buffer(certificate.key_pem), asio::ssl::context::pem);
    SSL_CTX* raw = server_context.native_handle();
    SSL_CTX_set_security_level(raw, 0);
    SSL_CTX_set_min_proto_version(raw, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(raw, server_version_max);
    server.reset(SSL_new(raw));
    SSL_set_accept_state(server.get());

    BIO* client_end = nullptr;
    BIO* server_end = nullptr;
    REQUIRE(BIO_new_bio_pair(&client_end, 0, &server_end, 0) == 1);
    SSL_set_bio(client.get(), client_end, client_end);
    SSL_set_bio(server.get(), server_end, server_end);
  }

  // Both sides in turn, as long as either can go on.
  bool handshake() {
    for (int turns = 0; turns < 100; ++turns) {
      const bool client_done = SSL_do_handshake(client.get()) == 1;
      const bool server_done = SSL_do_handshake(server.get()) == 1;
      if (client_done && server_done) return true;
    }
    return false;
  }
};

std::string read_from(ssl_st* ssl) {
  char buffer[100];
  std::size_t size = 0;
  return SSL_read_ex(ssl, buffer, sizeof buffer, &size) == 1 ? std::string(buffer, size) : "";
}

TEST_CASE("TLS 1.2 and 1.3 are spoken, and nothing older however lax OpenSSL is", "[C6]") {
  struct Row {
    int version_max;
    std::string spoken;  // empty: none
  };
  for (const Row& row : {Row{TLS1_3_VERSION, "TLSv1.3"}, Row{TLS1_2_VERSION, "TLSv1.2"},
                         Row{TLS1_1_VERSION, ""}, Row{TLS1_VERSION, ""}}) {
    INFO(row.version_max);
    Pair pair(row.version_max);
    CHECK(pair.handshake() == !row.spoken.empty());
    if (!row.spoken.empty()) CHECK(SSL_get_version(pair.client.get()) == row.spoken);
    CHECK(SSL_get_min_proto_version(pair.client.get()) == TLS1_2_VERSION);
  }
}

TEST_CASE("A server that wants to renegotiate is turned down, and the connection goes on", "[C6]") {
  Pair pair(TLS1_2_VERSION);  // 1.3 has no renegotiation
  REQUIRE(pair.handshake());
  CHECK((SSL_get_options(pair.client.get()) & SSL_OP_NO_RENEGOTIATION) != 0);

  REQUIRE(SSL_renegotiate(pair.server.get()) == 1);
  REQUIRE(SSL_do_handshake(pair.server.get()) == 1);  // sends its wish
  CHECK(read_from(pair.client.get()).empty());        // reads it, and answers
  ERR_clear_error();
  CHECK(read_from(pair.server.get()).empty());
  CHECK(ERR_GET_REASON(ERR_get_error()) == SSL_R_NO_RENEGOTIATION);
  CHECK(SSL_total_renegotiations(pair.client.get()) == 0);
  CHECK(SSL_is_init_finished(pair.client.get()) == 1);
  CHECK(SSL_write(pair.client.get(), "GET", 3) == 3);
}

}  // namespace
}  // namespace amdahl::kube
