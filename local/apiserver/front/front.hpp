// HTTP in front of the API server: tokens, replies, streams.
//
// A client that does not read its watch is cut off by the HTTP server; the others do not notice.
// Thread: one. Lifetime: server and identities outlive it; stop() has returned before it dies, and
// before the server's. Failure: start() says what of address, port or certificate cannot be used;
// a client's failure ends its own connection.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>

#include "base/clock.hpp"
#include "base/http_server.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "local/apiserver/front/durable_server.hpp"
#include "local/apiserver/rules/served_kinds.hpp"

namespace amdahl::local {

class Front {
 public:
  Front(const boost::asio::any_io_executor& executor, Clock& clock, DurableServer& server,
        const Identities& identities, HttpServerOptions options);

  Task<Result<void>> start();
  std::uint16_t port() const { return http_.port(); }
  // Ends the watches in good order, lets the other requests answer.
  Task<Result<void>> stop(Monotonic deadline);

 private:
  Task<void> serve(HttpRequest request, HttpResponder& responder);
  Task<void> stream(std::unique_ptr<WatchStream> source, HttpResponse head,
                    HttpResponder& responder);

  Clock& clock_;
  DurableServer& server_;
  const Identities& identities_;
  HttpServer http_;
  bool stopping_ = false;
};

}  // namespace amdahl::local
