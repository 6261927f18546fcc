// One byte stream to a server: TCP, perhaps through a proxy's CONNECT (C5), perhaps with TLS (C6).
//
// Sockets do not block: try_read() takes what is there without a coroutine turn, and
// wait_readable() suspends only when there is nothing. OpenSSL works on the socket directly, so a
// TLS byte is copied once less than through a stream adaptor, and 64 KiB are read at a time.
//
// Thread: one. Lifetime: the clock and the TLS context outlive it. Failure: Errc::kTls when the
// peer cannot be verified, Errc::kIo for everything that breaks, Errc::kCancelled when the waiting
// task was stopped; texts name host and port. After any failure the connection is of no more use.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/kube/proxy.hpp"
#include "operator/kube/tls_context.hpp"

namespace amdahl::kube {

inline constexpr std::chrono::seconds kKeepAliveIdle{30};  // L8
inline constexpr std::chrono::seconds kKeepAliveInterval{10};
inline constexpr int kKeepAliveProbes = 3;
inline constexpr std::chrono::seconds kTcpUserTimeout{30};  // L8

struct ConnectTarget {
  std::string host = {};  // name or address, without brackets
  std::uint16_t port = 443;
  std::shared_ptr<TlsContext> tls = {};  // null: plain text
  std::string server_name = {};          // verified instead of the host; empty: the host
  std::optional<ProxyTarget> proxy = {};
  std::shared_ptr<TlsContext> proxy_tls = {};         // for an https:// proxy
  std::chrono::milliseconds address_timeout{10'000};  // for each address of the host
};

class Connection {
 public:
  static Task<Result<std::shared_ptr<Connection>>> open(ConnectTarget target, Clock& clock);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Bytes that are there now, as many as fit; 0 at the orderly end; no value: none yet.
  Result<std::optional<std::size_t>> try_read(std::span<char> into);
  Task<Result<void>> wait_readable();
  // `may_begin` is asked again before every attempt until the first byte has left.
  // tidy: allow(coroutine-parameter) awaited in place by the exchange that owns the bytes
  Task<Result<void>> write_all(std::string_view bytes,
                               std::function<Result<void>()> may_begin = {});

  // An idle connection that the server has not closed and has not spoken on.
  bool usable();
  // Whoever uses the connection now gets Errc::kIo with this reason.
  void abort(std::string reason);
  // Whoever waits gets Errc::kCancelled; the connection stays as it is.
  void interrupt();
  bool resumed() const;  // its TLS session was resumed
  int native_handle() const;
  const std::string& peer() const;  // "10.0.0.1:6443", for messages

  struct State;
  explicit Connection(std::unique_ptr<State> state);  // for open()

 private:
  std::unique_ptr<State> state_;
};

}  // namespace amdahl::kube
