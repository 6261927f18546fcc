// For the tests of the HTTP server: a small site, and clients that speak raw bytes to it.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/http_server.hpp"
#include "base/task_group.hpp"

namespace amdahl {

// Turns the loop until the condition holds; false after five seconds.
inline bool turn_until(boost::asio::io_context& io, const std::function<bool()>& condition) {
  for (int turns = 0; turns < 500'000; ++turns) {
    if (condition()) return true;
    io.restart();
    if (io.run_one_for(std::chrono::milliseconds(1)) == 0 && turns > 5'000) return false;
  }
  return false;
}

// A socket that sends and receives bytes while the loop of the server turns.
class RawClient {
 public:
  RawClient(boost::asio::io_context& io, std::uint16_t port) : io_(io), socket_(io) {
    socket_.connect({boost::asio::ip::make_address("127.0.0.1"), port});
    socket_.non_blocking(true);
  }

  void send(std::string_view bytes) {
    REQUIRE(turn_until(io_, [&] {
      boost::system::error_code error;
      bytes.remove_prefix(socket_.write_some(boost::asio::buffer(bytes), error));
      return bytes.empty() || (error && error != boost::asio::error::would_block);
    }));
  }
  // Reads until the text holds `mark`; everything received so far.
  std::string receive_until(std::string_view mark) {
    turn_until(io_, [&] { return poll_input() || received_.find(mark) != received_.npos; });
    return received_;
  }
  std::string receive_all() {  // until the server closes
    CHECK(turn_until(io_, [&] { return poll_input(); }));
    return received_;
  }
  std::string ask(std::string_view request) {
    send(request);
    return receive_all();
  }
  bool closed() { return poll_input(); }
  std::string& received() { return received_; }
  boost::asio::ip::tcp::socket& socket() { return socket_; }
  // One read of at most this many bytes, for clients that read slowly.
  std::size_t read_once(std::size_t bytes_max) {
    std::string buffer(bytes_max, '\0');
    boost::system::error_code error;
    const std::size_t got = socket_.read_some(boost::asio::buffer(buffer), error);
    received_.append(buffer, 0, got);
    return got;
  }

 private:
  bool poll_input() {  // true when the server has closed
    char buffer[65'536];
    boost::system::error_code error;
    const std::size_t got = socket_.read_some(boost::asio::buffer(buffer), error);
    received_.append(buffer, got);
    return error && error != boost::asio::error::would_block;
  }

  boost::asio::io_context& io_;
  boost::asio::ip::tcp::socket socket_;
  std::string received_;
};

// What the tests ask for. Everything it did is written down.
struct HttpSite {
  HttpSite(boost::asio::io_context& io, Clock& clock_in)
      : clock(clock_in), go_on(io.get_executor()) {}

  Task<void> handle(HttpRequest request, HttpResponder& responder) {
    seen.push_back(request.method + " " + request.target);
    last = request;
    if (request.path == "/vouch")
      responder.vouch(std::string(request.query_value("as").value_or("client")));
    if (request.path == "/echo")
      co_await respond(responder, {.body = request.body});
    else if (request.path == "/throw")
      throw std::runtime_error("token=secret");
    else if (request.path == "/forge")
      co_await respond(responder, {.headers = {{"X-Name", "a\r\nX-Forged: b"}}});
    else if (request.path == "/empty")
      co_await respond(responder, {.status = 204});
    else if (request.path == "/slow")
      co_await slow(responder);
    else if (request.path == "/stream")
      co_await stream(std::move(request), responder);
    else if (request.path == "/watch")
      co_await watch(responder);
    else if (request.path == "/twice")
      co_await twice(responder);
    else if (request.path != "/silent")
      co_await respond(responder, {.body = "hello"});
  }

  Task<void> respond(HttpResponder& responder, HttpResponse response) {
    outcomes.push_back(co_await responder.respond(std::move(response)));
  }
  Task<void> slow(HttpResponder& responder) {
    (void)co_await go_on.wait(clock, Monotonic::max());
    co_await respond(responder, {.body = "at last"});
  }
  Task<void> stream(HttpRequest request, HttpResponder& responder) {
    outcomes.push_back(co_await responder.start_stream({.content_type = "application/json"}));
    const int chunks = std::stoi(std::string(request.query_value("chunks").value_or("2")));
    const auto bytes = std::stoul(std::string(request.query_value("bytes").value_or("3")));
    for (int i = 0; i < chunks; ++i) {
      outcomes.push_back(
          co_await responder.write(std::string(bytes, static_cast<char>('a' + i % 26))));
      if (!outcomes.back()) co_return;
    }
    if (!request.query_value("break")) outcomes.push_back(co_await responder.finish());
  }
  Task<void> watch(HttpResponder& responder) {
    outcomes.push_back(co_await responder.start_stream({}));
    outcomes.push_back(co_await responder.write("event\n"));
    const auto waited = co_await go_on.wait(clock, Monotonic::max());
    outcomes.push_back(waited);
    outcomes.push_back(co_await responder.finish());
  }
  Task<void> twice(HttpResponder& responder) {
    co_await respond(responder, {.body = "one"});
    co_await respond(responder, {.body = "two"});
  }

  Clock& clock;
  Notify go_on;
  std::vector<std::string> seen;
  std::vector<Result<void>> outcomes;
  HttpRequest last;
};

// A running server with its site, on a clock that stands still.
class HttpFixture {
 public:
  explicit HttpFixture(HttpServerOptions options = {}) : site(io, clock) {
    options.log = Log(clock, [this](std::string_view line) { log_text += line; });
    server = std::make_unique<HttpServer>(io.get_executor(), clock, std::move(options),
                                          [this](HttpRequest request, HttpResponder& responder) {
                                            return site.handle(std::move(request), responder);
                                          });
    started = run_until_complete(io, server->start());
  }
  ~HttpFixture() {
    if (!stopped) (void)run_until_complete(io, server->stop(clock.monotonic()));
  }

  RawClient connect() { return RawClient(io, server->port()); }
  std::string ask(std::string_view request) { return connect().ask(request); }
  bool until(const std::function<bool()>& condition) { return turn_until(io, condition); }
  void advance(std::chrono::nanoseconds step) {
    io.restart();
    io.poll();
    clock.advance(step);
    io.poll();
  }

  ManualClock clock;
  boost::asio::io_context io;
  HttpSite site;
  std::string log_text;
  std::unique_ptr<HttpServer> server;
  Result<void> started;
  bool stopped = false;
};

}  // namespace amdahl
