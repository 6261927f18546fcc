#include "operator/kube/tls_context.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>

#include "base/check.hpp"

namespace amdahl::kube {
namespace asio = boost::asio;
namespace {

// A read takes in many records at once; OpenSSL's default is one record for each system call.
constexpr std::size_t kTlsReadBytes = std::size_t{64} << 10;

bool is_address(const std::string& name) {
  boost::system::error_code error;
  asio::ip::make_address(name, error);
  return !error;
}

std::string queued_reason() {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "unknown reason" : reason;
}

Result<void> load_pem(asio::ssl::context& context, const TlsPem& pem) {
  boost::system::error_code error;
  if (pem.ca.empty())
    context.set_default_verify_paths(error);
  else
    context.add_certificate_authority(asio::buffer(pem.ca), error);
  if (error) return fail(Errc::kTls, "certificate authority: {}", error.message());
  if (pem.certificate.empty()) return {};
  context.use_certificate_chain(asio::buffer(pem.certificate), error);
  if (error) return fail(Errc::kTls, "client certificate: {}", error.message());
  context.use_private_key(asio::buffer(pem.key), asio::ssl::context::pem, error);
  if (error) return fail(Errc::kTls, "client key: {}", error.message());
  return {};
}

void set_policy(SSL_CTX* context, bool insecure) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, kTlsReadBytes);
  SSL_CTX_set_verify(context, insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  // As Go does: whatever stands in the CA file is trusted, also an intermediate.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  SSL_CTX_set_alpn_protos(context, kHttp11, sizeof kHttp11 - 1);
}

// Where a SSL_CTX keeps its TlsContext. Not the "app data": Asio's context deletes what is there.
int self_index() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

std::string describe_verify_failure(long code, const std::string& name) {
  switch (code) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return fmt::format("the server's certificate is not for \"{}\"", name);
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "the server's certificate has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "the server's certificate is not valid yet; check the clock of this machine";
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return fmt::format("the server's certificate is signed by an unknown authority ({})",
                         X509_verify_cert_error_string(code));
    default:
      return fmt::format("the server's certificate was refused: {}",
                         X509_verify_cert_error_string(code));
  }
}

}  // namespace

void SslDeleter::operator()(ssl_st* ssl) const {
  SSL_free(ssl);
}
void SslDeleter::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}
void SslDeleter::operator()(ssl_session_st* session) const {
  SSL_SESSION_free(session);
}

TlsContext::TlsContext(ssl_ctx_st* context, bool insecure)
    : context_(context), insecure_(insecure) {
  set_policy(context, insecure);
  SSL_CTX_set_ex_data(context, self_index(), this);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, &TlsContext::keep_session);
}

Result<std::shared_ptr<TlsContext>> TlsContext::make(const TlsPem& pem, bool insecure) {
  ERR_clear_error();
  asio::ssl::context context(asio::ssl::context::tls_client);
  TRY(load_pem(context, pem));
  SSL_CTX_up_ref(context.native_handle());
  return std::make_shared<TlsContext>(context.native_handle(), insecure);
}

int TlsContext::keep_session(ssl_st* ssl, ssl_session_st* session) {
  void* self = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), self_index());
  // A copy: OpenSSL spoils the session of a connection that ends without a goodbye.
  static_cast<TlsContext*>(self)->session_.reset(SSL_SESSION_dup(session));
  return 0;  // the original stays OpenSSL's
}

Result<SslPtr> TlsContext::client(const std::string& name) {
  SslPtr ssl(SSL_new(context_.get()));
  if (!ssl) return fail(Errc::kTls, "{}", queued_reason());
  SSL_set_connect_state(ssl.get());
  X509_VERIFY_PARAM* verify = SSL_get0_param(ssl.get());
  // Alternative names only, as every current client does: the subject is for people.
  X509_VERIFY_PARAM_set_hostflags(
      verify, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const bool address = is_address(name);
  const int set = address ? X509_VERIFY_PARAM_set1_ip_asc(verify, name.c_str())
                          : X509_VERIFY_PARAM_set1_host(verify, name.data(), name.size());
  if (set != 1) return fail(Errc::kTls, "\"{}\" is not a host name", name);
  if (!address && SSL_set_tlsext_host_name(ssl.get(), name.c_str()) != 1)
    return fail(Errc::kTls, "\"{}\" cannot be sent as server name", name);
  if (session_ && SSL_SESSION_is_resumable(session_.get()) == 1) {
    const std::unique_ptr<ssl_session_st, SslDeleter> copy(SSL_SESSION_dup(session_.get()));
    SSL_set_session(ssl.get(), copy.get());
  }
  return ssl;
}

std::string describe_tls_failure(ssl_st* ssl, const std::string& name) {
  const unsigned long code = ERR_peek_error();
  const int reason = ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0;
  std::string text = queued_reason();
  switch (reason) {
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
      return describe_verify_failure(SSL_get_verify_result(ssl), name);
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_UNEXPECTED_MESSAGE:
    case SSL_R_UNKNOWN_PROTOCOL:
      return fmt::format("the server does not speak TLS ({}); is the address plain http?", text);
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW:
      return fmt::format("the server does not speak TLS 1.2 or newer ({})", text);
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return "the server requires a client certificate";
    default:
      return text;
  }
}

}  // namespace amdahl::kube
