// Bytes to and from one client, plain or TLS. Internal to the HTTP server.
//
// Thread: one; at most one read and one write at a time. Failure: Errc::kIo for a broken
// connection, Errc::kTls for a handshake, Errc::kCancelled after cancel() or when the task was
// stopped. Nothing here has a deadline: the session's watchdog calls cancel().
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/http_server.hpp"

namespace boost::asio::ssl {
class context;
}

namespace amdahl {

struct HttpPeer {
  std::string address;      // "127.0.0.1:40312"
  std::string client_name;  // of a verified certificate
  std::vector<std::string> client_groups;
};

class HttpConnection {
 public:
  virtual ~HttpConnection() = default;
  virtual Task<Result<HttpPeer>> handshake() = 0;
  virtual Task<Result<std::size_t>> read_some(std::span<char> into) = 0;  // 0: the client is done
  // At most 4 pieces.
  // tidy: allow(coroutine-parameter) the session awaits it in place, and owns what is sent
  virtual Task<Result<void>> write(std::span<const std::string_view> pieces) = 0;
  // Says that nothing more comes, and reads what is still under way: closing a socket with unread
  // bytes would reset the connection, and the client might lose our last answer.
  virtual Task<void> linger() = 0;
  virtual void cancel() = 0;  // what is under way fails
  virtual void close() = 0;
};

std::unique_ptr<HttpConnection> plain_http_connection(boost::asio::ip::tcp::socket socket);
std::unique_ptr<HttpConnection> tls_http_connection(
    boost::asio::ip::tcp::socket socket, std::shared_ptr<boost::asio::ssl::context> context);

// Certificates of a server, read again when the files change. A bad file is logged and the old
// certificate stays: a half-written rotation must not take the server down (C2).
class HttpTlsContexts {
 public:
  HttpTlsContexts(HttpTlsOptions options, Log log);
  ~HttpTlsContexts();
  Result<void> load();  // the first time; errors name the file
  // For a new connection.
  std::shared_ptr<boost::asio::ssl::context> current(Monotonic now);

 private:
  struct Files;
  HttpTlsOptions options_;
  Log log_;
  std::unique_ptr<Files> files_;
  std::shared_ptr<boost::asio::ssl::context> context_;
  Monotonic next_check_{};
};

}  // namespace amdahl
