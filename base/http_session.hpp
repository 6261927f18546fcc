// One connection of the HTTP server, from handshake to close. Internal to the HTTP server.
//
// Thread: one. Lifetime: kept alive by its own tasks. Failure: ends itself.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/deadline.hpp"
#include "base/http_connection.hpp"
#include "base/task_group.hpp"

namespace amdahl {

// A deadline that moves with every step and rarely passes: moving it costs nothing, and one sleep
// serves many steps.
class HttpWatchdog {
 public:
  HttpWatchdog(const boost::asio::any_io_executor& executor, Clock& clock,
               std::function<void()> on_expired);
  void arm(std::chrono::nanoseconds delay);
  void disarm();
  bool expired() const { return expired_; }  // since it was armed
  Task<void> run();                          // until cancelled

 private:
  Clock& clock_;
  Notify changed_;
  std::function<void()> on_expired_;
  Monotonic deadline_ = Monotonic::max();
  Monotonic sleeping_until_ = Monotonic::max();
  bool expired_ = false;
};

class HttpSession;

// What all sessions of a server share.
struct HttpSessionHost {
  std::shared_ptr<void> owner;  // of all that is referred to below
  Clock& clock;
  const HttpLimits& limits;
  const HttpHandler& handler;
  const Log& log;
  TaskGroup& tasks;
  const bool& stopping;
  std::function<void(HttpSession*)> on_vouched;  // its owner is known now
};

class HttpSession final : public HttpResponder, public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(HttpSessionHost host, std::unique_ptr<HttpConnection> connection);

  // Starts the tasks; on_end is called once, when the connection is closed.
  void start(std::function<void(HttpSession*)> on_end);
  void close_if_idle();
  // Closes it. False: its request is being answered, and it stays. A client that does not read its
  // answer does not keep its place by that.
  bool make_room();
  void cut_off();                                      // as make_room(), whatever it does
  const std::string& owner() const { return owner_; }  // empty: nobody has vouched for it

  Task<Result<void>> respond(HttpResponse response) override;
  Task<Result<void>> start_stream(HttpResponse head) override;
  Task<Result<void>> write(std::string chunk) override;
  Task<Result<void>> finish() override;
  void vouch(std::string owner) override;

 private:
  enum class Answer : std::uint8_t { kNone, kStreaming, kComplete, kBroken };
  enum class Next : std::uint8_t { kAnotherRequest, kLinger, kDrop };

  static Task<void> run(std::shared_ptr<HttpSession> self,
                        std::function<void(HttpSession*)> on_end);
  static Task<void> run_watchdog(std::shared_ptr<HttpSession> self);
  static Task<void> watch_for_close(std::shared_ptr<HttpSession> self);
  Task<void> serve();
  Task<Next> serve_request();
  Task<Next> handle(HttpRequest request);
  Task<std::optional<HttpRequest>> read_request(HttpRequestParser& parser);
  Task<Result<std::size_t>> read_more();
  Task<Next> refuse(HttpRefusal refusal);
  Task<Result<void>> send(std::string head, std::string_view body);
  Result<std::string> render(const HttpResponse& response, std::optional<std::size_t> body_bytes);
  Error broken(Error error);
  // The given time; for a stranger at most the rest of a stranger's time.
  std::chrono::nanoseconds allowed(std::chrono::nanoseconds time) const;

  HttpSessionHost host_;
  std::unique_ptr<HttpConnection> connection_;
  HttpWatchdog watchdog_;
  HttpPeer peer_;
  std::string input_;  // received and not parsed yet; at most one head and one read
  std::uint64_t requests_ = 0;
  bool idle_ = false;
  bool handling_ = false;
  bool sending_ = false;  // a piece of an answer, which waits for the client
  bool stranger_ = false;
  Monotonic stranger_until_{};
  Monotonic vouched_until_{};
  std::string owner_;
  TaskGroup::Id task_ = 0;
  TaskGroup::Id watchdog_task_ = 0;
  TaskGroup::Id stream_task_ = 0;
  // Of the present request:
  Answer answer_ = Answer::kNone;
  bool head_only_ = false;
  bool http_1_0_ = false;
  bool last_ = false;  // the connection closes after this answer
};

}  // namespace amdahl
