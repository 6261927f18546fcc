#include "tests/kit/tls_identity.hpp"

#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>

#include "tests/kit/scripted_server.hpp"

namespace amdahl::testkit {
namespace asio = boost::asio;

std::shared_ptr<TlsIdentity> make_tls_identity(std::string_view certificate_pem,
                                               std::string_view key_pem,
                                               std::string_view client_ca_pem) {
  auto identity = std::make_shared<TlsIdentity>(
      std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server));
  auto& context = *identity->context;
  context.use_certificate_chain(asio::buffer(certificate_pem));
  context.use_private_key(asio::buffer(key_pem), asio::ssl::context::pem);
  static constexpr unsigned char kSessions[] = "scripted";
  SSL_CTX_set_session_id_context(context.native_handle(), kSessions, sizeof kSessions - 1);
  if (!client_ca_pem.empty()) {
    context.add_certificate_authority(asio::buffer(client_ca_pem));
    context.set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
  }
  return identity;
}

void limit_to_tls_1_1(TlsIdentity& identity) {
  SSL_CTX* context = identity.context->native_handle();
  SSL_CTX_set_security_level(context, 0);  // the default allows neither version
  SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
  SSL_CTX_set_max_proto_version(context, TLS1_1_VERSION);
}

}  // namespace amdahl::testkit
