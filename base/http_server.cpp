#include "base/http_server.hpp"

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <set>

#include "base/check.hpp"
#include "base/http_connection.hpp"
#include "base/http_holders.hpp"
#include "base/http_session.hpp"
#include "base/task_group.hpp"

namespace amdahl {
namespace asio = boost::asio;
using tcp = asio::ip::tcp;
namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr int kBacklog = 1024;
constexpr std::chrono::milliseconds kAcceptPause{100};  // when the process has no descriptor left
constexpr std::chrono::seconds kCutOffTime{1};          // for tasks to see that they were stopped
constexpr std::size_t kRefusedBytesMax = 16 * 1024;

// Best effort, without waiting: the connection is one too many.
void refuse_connection(tcp::socket socket, bool plain) {
  boost::system::error_code ignored;
  socket.non_blocking(true, ignored);
  if (plain) {
    constexpr std::string_view kBusy =
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n"
        "Content-Length: 21\r\nRetry-After: 1\r\nConnection: close\r\n\r\ntoo many connections\n";
    socket.write_some(asio::buffer(kBusy), ignored);
  }
  socket.shutdown(tcp::socket::shutdown_send, ignored);
  // Bytes that stay unread would turn the close into a reset, which can overtake the answer.
  std::array<char, kRefusedBytesMax> scratch;
  socket.read_some(asio::buffer(scratch), ignored);
}

}  // namespace

struct HttpServer::Core {
  Core(asio::any_io_executor executor, Clock& clock_in, HttpServerOptions options_in,
       HttpHandler handler_in)
      : clock(clock_in),
        options(std::move(options_in)),
        handler(std::move(handler_in)),
        acceptor(executor),
        tasks(executor) {}

  Result<void> listen();
  static Task<void> accept(std::shared_ptr<Core> core);
  void admit(const std::shared_ptr<Core>& self, tcp::socket socket);
  void start_session(const std::shared_ptr<Core>& self, tcp::socket socket, std::string peer);
  bool room_for(const std::string& peer);
  void know(const std::string& peer, HttpSession* session);
  void forget(const std::string& peer, HttpSession* session);

  Clock& clock;
  HttpServerOptions options;
  HttpHandler handler;
  std::optional<HttpTlsContexts> tls;
  tcp::acceptor acceptor;
  std::uint16_t port = 0;
  bool stopping = false;
  std::set<HttpSession*> sessions;                  // each lives until it leaves this set
  HttpHolders strangers{HttpHolders::Busy::kStay};  // by address
  // By owner. A client that does not read its answers is busy for long: that must not help it.
  HttpHolders known{HttpHolders::Busy::kAreCutOff};
  TaskGroup tasks;
};

Result<void> HttpServer::Core::listen() {
  boost::system::error_code error;
  const auto failed = [&](std::string_view what) {
    return fail(Errc::kIo, "{} {}:{}: {}", what, options.address, options.port, error.message());
  };
  const auto address = asio::ip::make_address(options.address, error);
  if (error) return fail(Errc::kInvalid, "listen on \"{}\": not an IP address", options.address);
  const tcp::endpoint endpoint(address, options.port);
  if (acceptor.open(endpoint.protocol(), error); error) return failed("open a socket for");
  acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (acceptor.bind(endpoint, error); error) return failed("listen on");
  if (acceptor.listen(kBacklog, error); error) return failed("listen on");
  port = acceptor.local_endpoint(error).port();
  if (error) return failed("listen on");
  return {};
}

Task<void> HttpServer::Core::accept(std::shared_ptr<Core> core) {
  while (!core->stopping) {
    auto [error, socket] = co_await core->acceptor.async_accept(kTuple);
    if (core->stopping || error == asio::error::operation_aborted) co_return;
    if (!error) {
      core->admit(core, std::move(socket));
      continue;
    }
    if (error == asio::error::connection_aborted) continue;
    core->options.log.error("accept failed", {{"cause", error.message()}});
    (void)co_await core->clock.sleep_for(kAcceptPause);  // when stopped, the next accept says so
  }
}

// False: neither is there a place, nor a stranger or an owner of several that would have to leave
// one.
bool HttpServer::Core::room_for(const std::string& peer) {
  const HttpLimits& limits = options.limits;
  const bool limited = limits.strangers_per_peer_max > 0;
  if (limited && strangers.of(peer) >= limits.strangers_per_peer_max)
    return strangers.close_one_of(peer);
  if (sessions.size() < limits.connections_max) return true;
  return (limited && strangers.close_one(0)) || known.close_one(1);
}

void HttpServer::Core::know(const std::string& peer, HttpSession* session) {
  strangers.remove(peer, session);
  const std::size_t owner_max = options.limits.connections_per_owner_max;
  if (owner_max == 0) return;
  if (known.of(session->owner()) >= owner_max) known.close_one_of(session->owner());
  known.add(session->owner(), session);
}

void HttpServer::Core::forget(const std::string& peer, HttpSession* session) {
  sessions.erase(session);
  strangers.remove(peer, session);
  known.remove(session->owner(), session);
}

void HttpServer::Core::admit(const std::shared_ptr<Core>& self, tcp::socket socket) {
  boost::system::error_code error;
  const tcp::endpoint from = socket.remote_endpoint(error);
  if (error) return;  // it has gone
  std::string peer = from.address().to_string();
  if (!room_for(peer)) {
    options.log.warning("connection refused, too many are open",
                        {{"connections_max", options.limits.connections_max}});
    refuse_connection(std::move(socket), !tls);
    return;
  }
  start_session(self, std::move(socket), std::move(peer));
}

void HttpServer::Core::start_session(const std::shared_ptr<Core>& self, tcp::socket socket,
                                     std::string peer) {
  boost::system::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(tcp::socket::keep_alive(true), ignored);
  auto connection = tls ? tls_http_connection(std::move(socket), tls->current(clock.monotonic()))
                        : plain_http_connection(std::move(socket));
  const HttpSessionHost host{.owner = self,
                             .clock = clock,
                             .limits = options.limits,
                             .handler = handler,
                             .log = options.log,
                             .tasks = tasks,
                             .stopping = stopping,
                             .on_vouched = [this, peer](HttpSession* one) { know(peer, one); }};
  const auto session = std::make_shared<HttpSession>(host, std::move(connection));
  sessions.insert(session.get());
  if (options.limits.strangers_per_peer_max > 0) strangers.add(peer, session.get());
  session->start([this, peer](HttpSession* ended) { forget(peer, ended); });
}

HttpServer::HttpServer(asio::any_io_executor executor, Clock& clock, HttpServerOptions options,
                       HttpHandler handler)
    : core_(std::make_shared<Core>(executor, clock, std::move(options), std::move(handler))) {}

HttpServer::~HttpServer() = default;

Task<Result<void>> HttpServer::start() {
  const std::shared_ptr<Core> core = core_;
  AMDAHL_CHECK(!core->acceptor.is_open() && !core->stopping);
  if (core->options.tls) {
    core->tls.emplace(*core->options.tls, core->options.log);
    CO_TRY(core->tls->load());
  }
  CO_TRY(core->listen());
  core->tasks.spawn("http accept", Core::accept(core));
  co_return Result<void>{};
}

std::uint16_t HttpServer::port() const {
  return core_->port;
}
std::size_t HttpServer::connections() const {
  return core_->sessions.size();
}

Task<Result<void>> HttpServer::stop(Monotonic deadline) {
  const std::shared_ptr<Core> core = core_;
  core->stopping = true;
  boost::system::error_code ignored;
  core->acceptor.close(ignored);
  for (HttpSession* session : core->sessions) session->close_if_idle();
  if (co_await core->tasks.join(core->clock, deadline)) co_return Result<void>{};
  const std::size_t cut_off = core->sessions.size();
  core->tasks.stop();
  (void)co_await core->tasks.join(core->clock, core->clock.monotonic() + kCutOffTime);
  core->sessions.clear();  // of those that were stopped before they began
  core->strangers.clear();
  core->known.clear();
  co_return fail(Errc::kTimeout, "stop HTTP server: {} connections were cut off", cut_off);
}

}  // namespace amdahl
