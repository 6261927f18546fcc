#include "base/http_server.hpp"

#include <catch2/catch.hpp>

#include "base/test_http_site.hpp"

namespace amdahl {
namespace {
using namespace std::chrono_literals;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

TEST_CASE("HttpServer answers a request with date, length and the handler's body") {
  HttpFixture test;
  REQUIRE(test.started);
  const std::string answer = test.ask(
      "POST /echo?limit=5&labelSelector=a%3Db+c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
      "X-Note: yes\r\nContent-Length: 3\r\n\r\nabc");
  CHECK(answer ==
        "HTTP/1.1 200 OK\r\nDate: Tue, 14 Nov 2023 22:13:20 GMT\r\nContent-Length: 3\r\n"
        "Connection: close\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nabc");
  CHECK(test.site.last.path == "/echo");
  CHECK(test.site.last.query_value("labelSelector") == "a=b c");
  CHECK(test.site.last.header("x-note") == "yes");
  CHECK_THAT(test.site.last.peer, StartsWith("127.0.0.1:"));
}

TEST_CASE("HttpServer keeps a connection, and serves pipelined requests in order") {
  HttpFixture test;
  RawClient client = test.connect();
  client.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK_THAT(client.receive_until("hello"), EndsWith("hello"));
  CHECK(test.until([&] { return test.server->connections() == 1; }));
  client.received().clear();
  std::string many;
  for (int i = 0; i < 50; ++i)
    many += fmt::format("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n{:04}", i);
  client.send(many + "GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answers = client.receive_all();
  std::size_t at = 0;
  for (int i = 0; i < 50; ++i) {
    at = answers.find(fmt::format("\r\n\r\n{:04}HTTP/1.1", i), at);
    REQUIRE(at != answers.npos);
  }
  CHECK(test.site.seen.size() == 52);
}

TEST_CASE("HttpServer ends a connection after its share of requests") {
  HttpFixture test({.limits = {.requests_per_connection_max = 2}});
  const std::string two = test.ask(
      "GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\nGET /c HTTP/1.1\r\n"
      "Host: x\r\n\r\n");
  CHECK(test.site.seen == std::vector<std::string>{"GET /a", "GET /b"});
  CHECK_THAT(two, Contains("Connection: close"));
}

TEST_CASE("HttpServer answers HEAD and 204 without a body") {
  HttpFixture test;
  const std::string answers = test.ask(
      "HEAD /hello HTTP/1.1\r\nHost: x\r\n\r\nGET /empty HTTP/1.1\r\nHost: x\r\n\r\n"
      "HEAD /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK_THAT(answers,
             Contains("Content-Length: 5\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
                      "HTTP/1.1 204 No Content\r\n"));
  CHECK_THAT(answers, EndsWith("Content-Type: application/json\r\n\r\n"));
  CHECK_THAT(answers, !Contains("hello"));
}

TEST_CASE("HttpServer speaks HTTP/1.0") {
  HttpFixture test;
  CHECK_THAT(test.ask("GET /hello HTTP/1.0\r\n\r\n"), EndsWith("\r\n\r\nhello"));
  RawClient kept = test.connect();
  kept.send("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  CHECK_THAT(kept.receive_until("hello"), Contains("Connection: keep-alive"));
  // No chunks in 1.0: the end of the connection is the end of the body.
  const std::string streamed = test.ask("GET /stream HTTP/1.0\r\n\r\n");
  CHECK_THAT(streamed, !Contains("chunked"));
  CHECK_THAT(streamed, EndsWith("\r\n\r\naaabbb"));
}

TEST_CASE("HttpServer sends 100 Continue only when the body may come") {
  HttpFixture test({.limits = {.body_bytes_max = 10}});
  RawClient polite = test.connect();
  polite.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  CHECK(polite.receive_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  polite.send("abc");
  CHECK_THAT(polite.receive_until("abc"), EndsWith("\r\n\r\nabc"));
  const std::string refused = test.ask(
      "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n");
  CHECK_THAT(refused, StartsWith("HTTP/1.1 413 "));
  CHECK_THAT(test.ask("GET / HTTP/1.1\r\nHost: x\r\nExpect: cake\r\n\r\n"),
             StartsWith("HTTP/1.1 417 "));
}

TEST_CASE("HttpServer turns a handler's failure into a 500 that tells nothing") {
  HttpFixture test;
  for (const char* path : {"/throw", "/silent", "/forge"}) {
    INFO(path);
    const std::string answer = test.ask(fmt::format("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", path));
    CHECK_THAT(answer, StartsWith("HTTP/1.1 500 "));
    CHECK_THAT(answer, EndsWith("\r\n\r\ninternal error\n"));
    CHECK_THAT(answer, !Contains("Forged"));
  }
  CHECK_THAT(test.log_text, Contains("handler threw"));
  CHECK_THAT(test.log_text, !Contains("secret"));
  CHECK_THAT(test.ask("GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
             EndsWith("hello"));
}

TEST_CASE("HttpServer takes one answer per request") {
  HttpFixture test;
  const std::string answer =
      test.ask("GET /twice HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK_THAT(answer, EndsWith("\r\n\r\none"));
  REQUIRE(test.site.outcomes.size() == 2);
  CHECK(test.site.outcomes[0]);
  CHECK(test.site.outcomes[1].error().code == Errc::kInvalid);
}

TEST_CASE("HttpServer streams in chunks and ends with the last one") {
  HttpFixture test;
  const std::string answer = test.ask("GET /stream?bytes=17 HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK_THAT(answer, Contains("Transfer-Encoding: chunked\r\nConnection: close"));
  CHECK_THAT(answer,
             EndsWith("\r\n\r\n11\r\naaaaaaaaaaaaaaaaa\r\n11\r\nbbbbbbbbbbbbbbbbb\r\n0\r\n\r\n"));
  const std::string broken = test.ask("GET /stream?break=1 HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK_THAT(broken, EndsWith("3\r\nbbb\r\n"));  // the client can tell that something is missing
}

TEST_CASE("HttpServer holds a stream back when the client does not read", "[C8]") {
  HttpFixture test;
  RawClient client = test.connect();
  client.socket().set_option(boost::asio::socket_base::receive_buffer_size(8192));
  client.send("GET /stream?chunks=2000&bytes=65536 HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(test.until([&] { return test.site.outcomes.size() > 1; }));
  for (int i = 0; i < 100; ++i) test.io.run_one_for(1ms);
  const std::size_t stuck = test.site.outcomes.size();
  CHECK(stuck < 200);  // of 2000: the kernel's buffers are full, ours do not grow
  for (int i = 0; i < 400; ++i) {
    client.read_once(65'536);
    test.io.run_one_for(1ms);
  }
  CHECK(test.site.outcomes.size() > stuck);
  SECTION("and gives up after the write time") {
    test.advance(29s);
    CHECK(test.site.outcomes.back());
    test.advance(2s);
    CHECK(test.until([&] { return !test.site.outcomes.back(); }));
    CHECK(test.site.outcomes.back().error().code == Errc::kTimeout);
    CHECK(test.until([&] { return test.server->connections() == 0; }));
  }
}

TEST_CASE("HttpServer stops a stream whose client has gone, even when nothing is to be sent",
          "[Q6]") {
  HttpFixture test;
  {
    RawClient client = test.connect();
    client.send("GET /watch HTTP/1.1\r\nHost: x\r\n\r\n");
    client.receive_until("event\n");
    CHECK(test.until([&] { return test.site.outcomes.size() == 2; }));
    test.advance(1h);  // an open stream has no idle time
    CHECK(test.server->connections() == 1);
  }
  CHECK(test.until([&] { return test.server->connections() == 0; }));
  REQUIRE(test.site.outcomes.size() == 3);
  CHECK(test.site.outcomes[2].error().code == Errc::kCancelled);
}

TEST_CASE("HttpServer survives clients that vanish in the middle") {
  HttpFixture test;
  for (const std::string_view part :
       {"", "G", "GET / HTTP/1.1\r\nHo",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"}) {
    INFO(part);
    RawClient client = test.connect();
    client.send(part);
    client.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send);
    CHECK(client.receive_all().empty());
  }
  CHECK(test.site.seen.empty());
  CHECK(test.until([&] { return test.server->connections() == 0; }));
}

TEST_CASE("HttpServer answers a client that has closed its own half") {
  HttpFixture test;
  RawClient client = test.connect();
  client.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  client.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send);
  CHECK_THAT(client.receive_all(), EndsWith("hello"));
}

TEST_CASE("HttpServer names address and cause when it cannot listen") {
  HttpFixture first;
  HttpFixture second({.port = first.server->port()});
  REQUIRE_FALSE(second.started);
  CHECK(second.started.error().code == Errc::kIo);
  CHECK(second.started.error().context ==
        fmt::format("listen on 127.0.0.1:{}: Address already in use", first.server->port()));
  HttpFixture third({.address = "localhost:80"});
  CHECK(third.started.error().context == "listen on \"localhost:80\": not an IP address");
}

TEST_CASE("HttpServer stop lets requests end, closes idle connections and accepts no more",
          "[Q6]") {
  HttpFixture test;
  RawClient busy = test.connect();
  RawClient idle = test.connect();
  idle.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  idle.receive_until("hello");
  busy.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  REQUIRE(test.until([&] { return test.site.seen.size() == 2; }));

  std::optional<Result<void>> stopped;
  const auto stopping = RunningTask::start(
      test.io.get_executor(),
      detail::store(test.server->stop(test.clock.monotonic() + 10s), stopped), {});
  test.stopped = true;
  CHECK(test.until([&] { return idle.closed(); }));
  CHECK_FALSE(stopped);
  boost::asio::ip::tcp::socket late(test.io);
  boost::system::error_code refused;
  late.connect({boost::asio::ip::make_address("127.0.0.1"), test.server->port()}, refused);
  CHECK(refused == boost::asio::error::connection_refused);
  SECTION("in time") {
    test.site.go_on.notify_all();
    CHECK_THAT(busy.receive_all(), EndsWith("Connection: close\r\nContent-Type: "
                                            "text/plain; charset=utf-8\r\n\r\nat last"));
    busy.socket().close();
    REQUIRE(test.until([&] { return stopped.has_value(); }));
    CHECK(stopped->has_value());
  }
  SECTION("too late") {
    test.advance(10s);
    REQUIRE(test.until([&] { return stopped.has_value(); }));
    REQUIRE_FALSE(*stopped);
    CHECK(stopped->error().context == "stop HTTP server: 1 connections were cut off");
    CHECK(busy.receive_all().empty());
  }
  CHECK(test.server->connections() == 0);
}

}  // namespace
}  // namespace amdahl
