// What every TLS connection to one server shares: trust, client certificate, session to resume.
//
// TLS 1.2 or newer, no renegotiation, HTTP/1.1 by ALPN (C6). OpenSSL stays behind this file and
// connection.cpp. Thread: one. Lifetime: shared by the connections made from it; immutable but for
// the session, so new certificates mean a new context (C2). Failure: Errc::kTls for unusable PEM.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "operator/kube/tls_material.hpp"

struct ssl_ctx_st;
struct ssl_session_st;
struct ssl_st;

namespace amdahl::kube {

struct SslDeleter {
  void operator()(ssl_st* ssl) const;
  void operator()(ssl_ctx_st* context) const;
  void operator()(ssl_session_st* session) const;
};
using SslPtr = std::unique_ptr<ssl_st, SslDeleter>;

class TlsContext {
 public:
  // Without `insecure` the peer's chain is verified against pem.ca, or the system's roots.
  static Result<std::shared_ptr<TlsContext>> make(const TlsPem& pem, bool insecure);

  // A client side for one connection. `name` is a host name or an address; it is verified against
  // the certificate's alternative names, and sent as SNI if it is a name. Its BIOs are not set.
  Result<SslPtr> client(const std::string& name);
  bool insecure() const { return insecure_; }

  TlsContext(ssl_ctx_st* context, bool insecure);  // for make()

 private:
  static int keep_session(ssl_st* ssl, ssl_session_st* session);

  std::unique_ptr<ssl_ctx_st, SslDeleter> context_;
  std::unique_ptr<ssl_session_st, SslDeleter> session_;  // the newest one the server gave
  bool insecure_ = false;
};

// Why a handshake or a read failed, after `ssl` reported an error of its own: "the certificate is
// not for \"10.0.0.1\"". Empties OpenSSL's error queue.
std::string describe_tls_failure(ssl_st* ssl, const std::string& name);

}  // namespace amdahl::kube
