// HTTP in front of the API server's core: tokens, durability, streams.
//
// The core answers a request at once; the reply leaves when the journal has everything it tells
// of. All requests of one turn of the loop share one write to the disk (group commit). A client
// that does not read its watch is cut off by the HTTP server; the others do not notice.
//
// Thread: one; the disk write blocks it. Lifetime: server, journal and identities outlive it;
// stop() has returned before it dies. Failure: when the disk refuses, whoever waits gets a 500 that
// says so, further writes get 503 until a retry succeeds, and reads go on; until then a read may
// show a write that nobody was promised.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/deadline.hpp"
#include "base/http_server.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "base/task_group.hpp"
#include "local/apiserver/core/api_server.hpp"
#include "local/apiserver/journal/journal.hpp"
#include "local/apiserver/rules/served_kinds.hpp"

namespace amdahl::local {

class Front {
 public:
  // What the front stands before.
  struct Behind {
    ApiServer& server;
    Journal& journal;
    const Identities& identities;
  };

  Front(const boost::asio::any_io_executor& executor, Clock& clock, Behind behind,
        HttpServerOptions options);

  // Reads the journal into the server, then listens.
  Task<Result<void>> start();
  std::uint16_t port() const { return http_.port(); }
  Task<Result<void>> stop(Monotonic deadline);

 private:
  Task<void> serve(HttpRequest request, HttpResponder& responder);
  Task<HttpResponse> answer(bool only_reads, Reply reply);
  Task<void> stream(std::unique_ptr<WatchStream> source, HttpResponse head,
                    HttpResponder& responder);
  Task<void> maintain();
  Task<void> commit_soon();
  void after_change();
  void commit();

  Clock& clock_;
  Behind behind_;
  Log log_;
  HttpServer http_;
  TaskGroup tasks_;
  Notify changed_;  // something is durable, or time has passed
  Notify work_;     // the maintenance has something to do
  std::vector<Mutation> pending_;
  std::string journal_problem_;  // empty: the last write succeeded
  bool commit_scheduled_ = false;
};

}  // namespace amdahl::local
