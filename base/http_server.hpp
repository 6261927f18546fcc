// An HTTP/1.1 server for health, metrics, reports and the embedded API server.
//
//   HttpServer server(io.get_executor(), clock, {.port = 8080}, handler);
//   CO_TRY(co_await server.start());   ...   CO_TRY(co_await server.stop(deadline));
//
// Every read, write and buffer has a limit (C8); TLS is 1.2 or later (C6). With limits for
// strangers, connections that no handler vouched for are closed in time, and make room for newer
// ones: first those of the same address, and when all places are taken, those of the address with
// the most. With a limit per owner, the connections that handlers vouched for make room as well:
// the oldest of an owner that exceeds it, and when all places are taken and no stranger is left,
// one of the owner with the most, until each has one. Thread: one. Lifetime: stop() has returned
// before the server dies; clock and handler outlive it. Failure: a broken connection ends itself; a
// handler that throws gives a 500 and a log line.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/http_message.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace amdahl {

// The answer to one request: respond(), or start_stream(), write()... and finish(). An error means
// that the client has gone or does not read, and nothing more can be sent. While a stream is open
// and the client goes away, the handler is cancelled, whatever it waits for.
class HttpResponder {
 public:
  virtual ~HttpResponder() = default;
  virtual Task<Result<void>> respond(HttpResponse response) = 0;
  // The body of `head` is not sent. A stream is the last answer on its connection.
  virtual Task<Result<void>> start_stream(HttpResponse head) = 0;
  virtual Task<Result<void>> write(std::string chunk) = 0;  // returns when the kernel took it
  // Without it the client sees the stream broken off, which is right for a failure.
  virtual Task<Result<void>> finish() = 0;
  // The handler has identified the client: limits for strangers no longer apply to this connection;
  // the limit per owner does. The first name that is given stays.
  virtual void vouch(std::string owner) = 0;
};

using HttpHandler = std::function<Task<void>(HttpRequest, HttpResponder&)>;

struct HttpTlsOptions {
  std::string certificate_file{};  // PEM; the leaf first, then its chain
  std::string key_file{};
  std::string client_ca_file{};  // empty: clients show no certificate
  bool client_certificate_required = false;
  std::chrono::milliseconds reload_period{10'000};  // how often a change on disk is looked for
};

struct HttpServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free one; port() tells
  HttpLimits limits{};
  std::optional<HttpTlsOptions> tls{};
  Log log{};
};

class HttpServer {
 public:
  HttpServer(boost::asio::any_io_executor executor, Clock& clock, HttpServerOptions options,
             HttpHandler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Listens when it returns. Errors name address, port or file, and the cause.
  Task<Result<void>> start();
  std::uint16_t port() const;
  std::size_t connections() const;
  // Accepts nothing more, closes idle connections, lets the rest answer; what still runs at the
  // deadline is cut off, and Errc::kTimeout says how much that was. Streams end by themselves or
  // at the deadline: whoever feeds them should end them first.
  Task<Result<void>> stop(Monotonic deadline);

 private:
  struct Core;
  std::shared_ptr<Core> core_;
};

}  // namespace amdahl
