#include "base/http_session.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"

namespace amdahl {
namespace {

constexpr std::size_t kReadBytes = 16 * 1024;
constexpr std::chrono::seconds kLingerTime{1};

}  // namespace

HttpWatchdog::HttpWatchdog(const boost::asio::any_io_executor& executor, Clock& clock,
                           std::function<void()> on_expired)
    : clock_(clock), changed_(executor), on_expired_(std::move(on_expired)) {}

void HttpWatchdog::arm(std::chrono::nanoseconds delay) {
  expired_ = false;
  deadline_ = clock_.monotonic() + delay;
  if (deadline_ < sleeping_until_) changed_.notify_all();
}

void HttpWatchdog::disarm() {
  expired_ = false;
  deadline_ = Monotonic::max();
}

Task<void> HttpWatchdog::run() {
  for (;;) {
    sleeping_until_ = deadline_;
    const auto woken = co_await changed_.wait(clock_, sleeping_until_);
    if (!woken && woken.error().code == Errc::kCancelled) co_return;
    if (clock_.monotonic() < deadline_) continue;
    disarm();
    expired_ = true;
    on_expired_();
  }
}

HttpSession::HttpSession(HttpSessionHost host, std::unique_ptr<HttpConnection> connection)
    : host_(std::move(host)),
      connection_(std::move(connection)),
      watchdog_(host_.tasks.executor(), host_.clock, [this] { connection_->cancel(); }) {}

void HttpSession::start(std::function<void(HttpSession*)> on_end) {
  const auto self = shared_from_this();
  stranger_ = host_.limits.strangers_per_peer_max > 0;
  stranger_until_ = host_.clock.monotonic() + host_.limits.stranger_time;
  watchdog_task_ = host_.tasks.spawn("http watchdog", run_watchdog(self));
  task_ = host_.tasks.spawn("http connection", run(self, std::move(on_end)));
}

void HttpSession::close_if_idle() {
  if (idle_) connection_->cancel();
}

bool HttpSession::make_room() {
  if (handling_ && !sending_) return false;
  cut_off();
  return true;
}

void HttpSession::cut_off() {
  connection_->close();  // at once: the newer connection may need the descriptor
}

void HttpSession::vouch(std::string owner) {
  AMDAHL_CHECK(!owner.empty());
  stranger_ = false;
  vouched_until_ = host_.clock.monotonic() + host_.limits.vouch_time;
  // The first owner stays: a place is held by whoever took it.
  if (!owner_.empty()) return;
  owner_ = std::move(owner);
  host_.on_vouched(this);
}

std::chrono::nanoseconds HttpSession::allowed(std::chrono::nanoseconds time) const {
  if (host_.limits.strangers_per_peer_max == 0) return time;
  const Monotonic until = stranger_ ? stranger_until_ : vouched_until_;
  return std::clamp<std::chrono::nanoseconds>(until - host_.clock.monotonic(),
                                              std::chrono::nanoseconds{0}, time);
}

Task<void> HttpSession::run_watchdog(std::shared_ptr<HttpSession> self) {
  co_await self->watchdog_.run();
}

Task<void> HttpSession::run(std::shared_ptr<HttpSession> self,
                            std::function<void(HttpSession*)> on_end) {
  std::exception_ptr failure;
  try {
    co_await self->serve();
  } catch (...) {
    failure = std::current_exception();
  }
  self->connection_->close();
  self->host_.tasks.stop(self->watchdog_task_);
  on_end(self.get());
  if (failure) std::rethrow_exception(failure);
}

Task<void> HttpSession::serve() {
  watchdog_.arm(allowed(host_.limits.header_time));
  auto peer = co_await connection_->handshake();
  if (!peer) {
    host_.log.debug("connection refused", {{"error", peer.error()}});
    co_return;
  }
  peer_ = std::move(*peer);
  Next next = Next::kAnotherRequest;
  while (next == Next::kAnotherRequest) next = co_await serve_request();
  if (next == Next::kDrop) co_return;
  watchdog_.arm(kLingerTime);
  co_await connection_->linger();
}

Task<HttpSession::Next> HttpSession::serve_request() {
  HttpRequestParser parser(host_.limits);
  answer_ = Answer::kNone;
  last_ = true;
  head_only_ = http_1_0_ = false;
  auto request = co_await read_request(parser);
  if (!request) {
    if (parser.refusal().reason.empty()) co_return Next::kDrop;
    co_return co_await refuse(parser.refusal());
  }
  head_only_ = request->method == "HEAD";
  http_1_0_ = parser.is_http_1_0();
  ++requests_;
  last_ = !parser.keep_alive() || host_.stopping ||
          requests_ >= host_.limits.requests_per_connection_max;
  co_return co_await handle(std::move(*request));
}

Task<HttpSession::Next> HttpSession::handle(HttpRequest request) {
  const std::string method = request.method;
  const std::string path = request.path;
  request.peer = peer_.address;
  request.client_name = peer_.client_name;
  request.client_groups = peer_.client_groups;
  std::exception_ptr failure;
  handling_ = true;
  try {
    co_await host_.handler(std::move(request), *this);
  } catch (...) {
    failure = std::current_exception();
  }
  handling_ = false;
  if (is_cancellation(failure)) std::rethrow_exception(failure);
  if (answer_ == Answer::kNone) {
    // What was thrown may hold anything; the request's name is enough to find it.
    host_.log.error(failure ? LogMessage("handler threw") : LogMessage("handler did not answer"),
                    {{"method", method}, {"path", path}});
    co_return co_await refuse({.status = 500, .reason = "internal error"});
  }
  if (answer_ != Answer::kComplete) co_return Next::kDrop;
  // Read again: stop() may have come while the answer was under way.
  co_return last_ || host_.stopping ? Next::kLinger : Next::kAnotherRequest;
}

// Nothing: the connection is of no more use, or parser.refusal() says how to answer.
Task<std::optional<HttpRequest>> HttpSession::read_request(HttpRequestParser& parser) {
  using Step = HttpRequestParser::Step;
  if (input_.empty()) {
    if (host_.stopping) co_return std::nullopt;
    idle_ = true;
    watchdog_.arm(allowed(host_.limits.idle_time));
    const auto first = co_await read_more();
    idle_ = false;
    if (!first || *first == 0) co_return std::nullopt;
  }
  watchdog_.arm(allowed(host_.limits.header_time));
  for (;;) {
    const Step step = parser.advance(input_);
    if (step == Step::kRefused) co_return std::nullopt;
    if (step == Step::kDone) break;
    if (step == Step::kHead) {
      watchdog_.arm(allowed(host_.limits.body_time));
      if (!parser.expects_continue() || !input_.empty()) continue;
      const std::array<std::string_view, 1> pieces = {"HTTP/1.1 100 Continue\r\n\r\n"};
      if (!co_await connection_->write(pieces)) co_return std::nullopt;
      continue;
    }
    const auto more = co_await read_more();
    if (!more && more.error().code == Errc::kTimeout) parser.time_out();
    if (!more || *more == 0) co_return std::nullopt;
  }
  watchdog_.disarm();
  co_return parser.take();
}

Task<Result<std::size_t>> HttpSession::read_more() {
  if (watchdog_.expired()) co_return fail(Errc::kTimeout, "read: too slow");
  std::array<char, kReadBytes> buffer;
  auto got = co_await connection_->read_some(buffer);
  if (got) input_.append(buffer.data(), *got);
  if (!got && watchdog_.expired()) co_return fail(Errc::kTimeout, "read: too slow");
  co_return got;
}

Task<HttpSession::Next> HttpSession::refuse(HttpRefusal refusal) {
  last_ = true;
  const auto sent = co_await respond(plain_http_response(refusal.status, refusal.reason));
  co_return sent ? Next::kLinger : Next::kDrop;
}

// Beside an open stream: the only way to learn that the client has gone is to read.
Task<void> HttpSession::watch_for_close(std::shared_ptr<HttpSession> self) {
  while (self->input_.size() < self->host_.limits.header_bytes_max) {
    const auto got = co_await self->read_more();
    if (got && *got > 0) continue;
    if (self->answer_ == Answer::kStreaming) self->host_.tasks.stop(self->task_);
    co_return;
  }
}

}  // namespace amdahl
