#include "operator/controller/status_server.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>
#include <csignal>

#include "base/task_group.hpp"
#include "operator/controller/signals.hpp"

namespace amdahl::controller {
namespace {
using namespace std::chrono_literals;
namespace asio = boost::asio;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

struct Answer {
  int status = 0;
  std::string text{};
};

Task<Answer> get(std::uint16_t port, std::string path, std::string header = "",
                 std::string method = "GET") {
  asio::ip::tcp::socket socket(co_await asio::this_coro::executor);
  co_await socket.async_connect({asio::ip::make_address("127.0.0.1"), port}, asio::use_awaitable);
  const std::string request =
      fmt::format("{} {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{}\r\n", method, path, header);
  co_await asio::async_write(socket, asio::buffer(request), asio::use_awaitable);
  std::string text;
  (void)co_await asio::async_read(socket, asio::dynamic_buffer(text), kTuple);
  REQUIRE(text.size() > 12);
  co_return Answer{.status = std::stoi(text.substr(9, 3)), .text = text};
}

struct Bench {
  asio::io_context io;
  RealClock clock;
  MetricsRegistry registry;
  Counter counter = registry.counter({"amdahl_test_total", "A test.", {}});
  std::string live_problem;
  std::string ready_problem = "waiting for the first list of Pod";
  int reviews = 0;

  StatusChecks checks() {
    return {.not_live = [this] { return live_problem; },
            .not_ready = [this] { return ready_problem; }};
  }
  static Task<Result<bool>> review(Bench& bench, std::string token) {
    ++bench.reviews;
    if (token == "broken") co_return fail(Errc::kUnavailable, "no answer");
    co_return token == "good";
  }
};

Task<void> probe(Bench& bench, StatusServer& server) {
  REQUIRE(co_await server.start());
  const auto port = server.probe_port();
  CHECK((co_await get(port, "/livez")).status == 200);
  CHECK((co_await get(port, "/healthz")).status == 200);
  const Answer waiting = co_await get(port, "/readyz");
  CHECK(waiting.status == 503);
  CHECK_THAT(waiting.text, Catch::Contains("first list of Pod"));
  bench.ready_problem.clear();
  CHECK((co_await get(port, "/readyz")).status == 200);
  bench.live_problem = "stuck";
  CHECK((co_await get(port, "/livez")).status == 500);
  CHECK((co_await get(port, "/readyz")).status == 200);
  bench.counter.increment();
  const Answer metrics = co_await get(port, "/metrics");
  CHECK(metrics.status == 200);
  CHECK_THAT(metrics.text,
             Catch::Contains("amdahl_test_total 1") && Catch::Contains("version=0.0.4"));
  CHECK((co_await get(port, "/elsewhere")).status == 404);
  CHECK((co_await get(port, "/livez", "", "DELETE")).status == 405);
  CHECK(co_await server.stop(bench.clock.monotonic() + 1s));
}

TEST_CASE("StatusServer tells liveness, readiness and metrics apart", "[E6]") {
  Bench bench;
  StatusServer server(bench.io.get_executor(), bench.clock, bench.registry, {}, bench.checks());
  run_until_complete(bench.io, probe(bench, server));
}

Task<void> ask_guarded(Bench& bench, StatusServer& server) {
  REQUIRE(co_await server.start());
  const auto port = server.metrics_port();
  CHECK(port != server.probe_port());
  CHECK((co_await get(server.probe_port(), "/metrics")).status == 404);
  CHECK((co_await get(port, "/livez")).status == 404);
  const Answer nobody = co_await get(port, "/metrics");
  CHECK(nobody.status == 401);
  CHECK_THAT(nobody.text, Catch::Contains("WWW-Authenticate: Bearer"));
  CHECK((co_await get(port, "/metrics", "Authorization: Basic Z29vZA==\r\n")).status == 401);
  CHECK(bench.reviews == 0);
  for (int i = 0; i < 3; ++i)
    CHECK((co_await get(port, "/metrics", "Authorization: Bearer good\r\n")).status == 200);
  CHECK(bench.reviews == 1);
  for (int i = 0; i < 3; ++i)
    CHECK((co_await get(port, "/metrics", "Authorization: Bearer bad\r\n")).status == 403);
  CHECK(bench.reviews == 2);
  CHECK((co_await get(port, "/metrics", "Authorization: Bearer broken\r\n")).status == 503);
  CHECK(co_await server.stop(bench.clock.monotonic() + 1s));
}

TEST_CASE("StatusServer shows metrics only to tokens that the cluster lets read them") {
  Bench bench;
  StatusServer server(bench.io.get_executor(), bench.clock, bench.registry,
                      {.metrics = HttpServerOptions{},
                       .metrics_access =
                           [&bench](std::string token, std::string path) {
                             CHECK(path == "/metrics");
                             return Bench::review(bench, std::move(token));
                           }},
                      bench.checks());
  run_until_complete(bench.io, ask_guarded(bench, server));
}

using Sockets = std::vector<asio::ip::tcp::socket>;

Task<asio::ip::tcp::socket> connect(std::uint16_t port) {
  asio::ip::tcp::socket socket(co_await asio::this_coro::executor);
  co_await socket.async_connect({asio::ip::make_address("127.0.0.1"), port}, asio::use_awaitable);
  co_return socket;
}

Task<void> crowd_of_idle_ones(Bench& bench, StatusServer& server) {
  REQUIRE(co_await server.start());
  Sockets idle;
  for (std::size_t i = 0; i < 4 * kStatusConnectionsMax; ++i) {
    idle.push_back(co_await connect(server.probe_port()));
    idle.push_back(co_await connect(server.metrics_port()));
  }
  CHECK((co_await get(server.probe_port(), "/livez")).status == 200);
  CHECK((co_await get(server.metrics_port(), "/metrics")).status == 200);
  // The oldest of them had to go.
  for (std::size_t i = 0; i < 2; ++i) {
    std::string text;
    (void)co_await asio::async_read(idle[i], asio::dynamic_buffer(text), kTuple);
    CHECK(text.empty());
  }
  CHECK(co_await server.stop(bench.clock.monotonic() + 1s));
}

TEST_CASE("StatusServer answers probes and scrapers in a crowd of idle connections", "[A6]") {
  Bench bench;
  StatusServer server(bench.io.get_executor(), bench.clock, bench.registry,
                      {.metrics = HttpServerOptions{}}, bench.checks());
  run_until_complete(bench.io, crowd_of_idle_ones(bench, server));
}

Task<std::string> ask_again(asio::ip::tcp::socket& socket) {
  const std::string request =
      "GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\n\r\n";
  co_await asio::async_write(socket, asio::buffer(request), asio::use_awaitable);
  std::string text;
  (void)co_await asio::async_read_until(socket, asio::dynamic_buffer(text), "amdahl_test", kTuple);
  co_return text;
}

Task<void> keep_the_reader(Bench& bench, StatusServer& server) {
  REQUIRE(co_await server.start());
  asio::ip::tcp::socket reader = co_await connect(server.metrics_port());
  CHECK_THAT(co_await ask_again(reader), Catch::StartsWith("HTTP/1.1 200 "));
  Sockets idle;
  for (std::size_t i = 0; i < 4 * kStatusConnectionsMax; ++i)
    idle.push_back(co_await connect(server.metrics_port()));
  CHECK_THAT(co_await ask_again(reader), Catch::Contains("HTTP/1.1 200 "));
  CHECK(co_await server.stop(bench.clock.monotonic() + 1s));
}

TEST_CASE("StatusServer keeps the connection of a reader whom the guard let in", "[A6]") {
  Bench bench;
  StatusServer server(
      bench.io.get_executor(), bench.clock, bench.registry,
      {.metrics = HttpServerOptions{},
       .metrics_access = [&bench](std::string token,
                                  std::string) { return Bench::review(bench, std::move(token)); }},
      bench.checks());
  run_until_complete(bench.io, keep_the_reader(bench, server));
}

Task<void> signal_twice(RealClock& clock, int& graceful, int& at_once) {
  std::raise(SIGTERM);
  for (int i = 0; i < 100 && graceful == 0; ++i) co_await clock.sleep_for(5ms);
  CHECK(graceful == 1);
  CHECK(at_once == 0);
  std::raise(SIGINT);
  for (int i = 0; i < 100 && at_once == 0; ++i) co_await clock.sleep_for(5ms);
  CHECK(graceful == 1);
  CHECK(at_once == 1);
}

TEST_CASE("The first signal asks for an orderly end, the second ends at once", "[E9]") {
  asio::io_context io;
  RealClock clock;
  int graceful = 0;
  int at_once = 0;
  const StopSignals signals(io.get_executor(), [&] { ++graceful; }, [&] { ++at_once; });
  run_until_complete(io, signal_twice(clock, graceful, at_once));
}

}  // namespace
}  // namespace amdahl::controller
