// The API server with its journal and its time: a Call in, a Reply that is on the disk out.
//
// The core answers a call at once; the reply is given out when the journal has everything it tells
// of. Calls that come while the disk is busy share the next write to it (group commit), and so do,
// for a part of the time a write takes, those of callers that have just got their last answer. The
// ways in are front.hpp (HTTP) and in_process_transport.hpp.
//
// Thread: one; the disk is written beside it (journal_writer.hpp). Lifetime: server and journal
// outlive it; stop() has returned before it dies. Failure: when the disk refuses, whoever waits
// gets a 500 that says so, further writes get 503 until a retry succeeds, and reads go on; until
// then a read may show a write that nobody was promised.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/deadline.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "base/task_group.hpp"
#include "local/apiserver/core/api_server.hpp"
#include "local/apiserver/front/journal_writer.hpp"
#include "local/apiserver/journal/journal.hpp"

namespace amdahl::local {

class DurableServer {
 public:
  DurableServer(const boost::asio::any_io_executor& executor, Clock& clock, ApiServer& server,
                Journal& journal, Log log = {});

  // Reads the journal into the server and lets time pass.
  Result<void> start();
  Task<Result<void>> stop(Monotonic deadline);

  // The reply of a stream comes at once, any other when it is durable.
  Task<Reply> handle(Call call);
  // Returns when a stream that had nothing may have something: a write is durable, time has passed,
  // or somebody said so. Errc::kCancelled when the waiting task was stopped.
  Task<Result<void>> progress(Monotonic deadline);
  // Streams that are not watches have something new: a log has grown.
  void say_progress() { changed_.notify_all(); }

 private:
  Task<Reply> when_durable(bool only_reads, Reply reply);
  Task<void> maintain();
  void after_change();
  void start_commits();
  Task<void> commit_all();
  Task<void> gather();
  Task<void> commit();

  Clock& clock_;
  ApiServer& server_;
  Journal& journal_;  // read by start() only
  Log log_;
  TaskGroup tasks_;
  Notify changed_;  // something is durable, or time has passed
  Notify work_;     // the maintenance has something to do
  Notify joined_;   // one more call has written
  JournalWriter writer_;
  std::vector<Mutation> pending_;  // on their way to the disk
  std::string journal_problem_;    // empty: the last write succeeded
  bool committing_ = false;
  std::size_t writers_ = 0;                // calls whose writes the next commit takes
  std::size_t writers_expected_ = 0;       // who wrote last and who waited meanwhile
  std::chrono::nanoseconds disk_time_{0};  // of the last commit
};

}  // namespace amdahl::local
