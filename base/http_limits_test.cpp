#include <catch2/catch.hpp>

#include "base/http_server.hpp"
#include "base/test_http_site.hpp"

namespace amdahl {
namespace {
using namespace std::chrono_literals;
using Catch::EndsWith;
using Catch::StartsWith;

TEST_CASE("HttpServer refuses what is too large or broken, with the right status", "[C8]") {
  HttpFixture test({.limits = {.header_bytes_max = 2000,
                               .target_bytes_max = 300,
                               .fields_max = 10,
                               .query_pairs_max = 3,
                               .body_bytes_max = 100}});
  const std::string long_text(3000, 'a');
  std::string many_fields;
  for (int i = 0; i < 20; ++i) many_fields += fmt::format("X-{}: y\r\n", i);
  const std::string get = "GET / HTTP/1.1\r\nHost: x\r\n";
  const std::string post = "POST /echo HTTP/1.1\r\nHost: x\r\n";
  const auto check = [&](std::string_view request, int status) {
    INFO(request.substr(0, 100));
    RawClient client = test.connect();
    client.send(request);
    CHECK_THAT(client.receive_all(), StartsWith(fmt::format("HTTP/1.1 {} ", status)));
  };
  check("GET /" + long_text + " HTTP/1.1\r\nHost: x\r\n\r\n", 414);
  check("GET /" + std::string(400, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n", 414);
  check(get + "X: " + long_text + "\r\n\r\n", 431);
  check(get + many_fields + "\r\n", 431);
  check(post + "Content-Length: 101\r\n\r\n", 413);
  check(post + "Content-Length: 101\r\n\r\n" + long_text, 413);
  check(post + "Transfer-Encoding: chunked\r\n\r\nffff\r\n" + long_text, 413);
  check(post + "Transfer-Encoding: chunked\r\n\r\n1;" + long_text, 431);
  check(post + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nT: " + long_text, 431);
  check(post + "Transfer-Encoding: gzip\r\n\r\n", 501);
  check(post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501);
  check(post + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400);
  check(post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400);
  check(post + "Content-Length: -1\r\n\r\n", 400);
  check(post + "Content-Length: 99999999999999999999\r\n\r\n", 400);
  check(post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400);
  check("GET / HTTP/1.1\r\n\r\n", 400);
  check(get + "Host: y\r\n\r\n", 400);
  check("GET / HTTP/3.7\r\nHost: x\r\n\r\n", 505);
  check("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505);
  check("nonsense\r\n\r\n", 400);
  check("GET /\x01 HTTP/1.1\r\nHost: x\r\n\r\n", 400);
  check(get + "Bad Name: x\r\n\r\n", 400);
  check("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS client\r\n\r\n", 400);
  for (const char* target : {"/a%2Fb", "/%00", "/..", "/a/../b", "/%2e%2e/b", "/%zz", "/%4", "a",
                             "*", "/?a=%", "/?a&b&c&d", "x:443"})
    check(fmt::format("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", target), 400);
  CHECK(test.site.seen.empty());
  CHECK_THAT(
      test.ask(post + "Connection: close\r\nContent-Length: 100\r\n\r\n" + std::string(100, 'b')),
      EndsWith("\r\n\r\n" + std::string(100, 'b')));
}

TEST_CASE("HttpServer gives a slow head and a slow body their time and no more", "[C8][Q6]") {
  HttpFixture test;
  RawClient client = test.connect();
  SECTION("a client that never sends anything is closed without a word") {
    CHECK(test.until([&] { return test.server->connections() == 1; }));
    test.advance(121s);
    CHECK(client.receive_all().empty());
  }
  SECTION("a head that drips in does not move its deadline") {
    const std::string_view head =
        "GET /hello HTTP/1.1\r\nHost: x\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaa";
    for (const char c : head.substr(0, 19)) {
      client.send(std::string(1, c));
      test.advance(500ms);
    }
    CHECK(client.received().empty());
    client.send("x");
    test.advance(1s);
    CHECK_THAT(client.receive_all(), StartsWith("HTTP/1.1 408 "));
  }
  SECTION("a body that drips in does not move its deadline") {
    client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n");
    for (int i = 0; i < 29; ++i) {
      client.send("x");
      test.advance(1s);
    }
    CHECK_FALSE(client.closed());
    client.send("x");
    test.advance(2s);
    CHECK_THAT(client.receive_all(), StartsWith("HTTP/1.1 408 "));
  }
  SECTION("an idle connection is closed without a word") {
    client.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
    client.receive_until("hello");
    client.received().clear();
    test.advance(119s);
    CHECK_FALSE(client.closed());
    test.advance(2s);
    CHECK(client.receive_all().empty());
  }
  client.socket().close();
  test.advance(2s);
  CHECK(test.until([&] { return test.server->connections() == 0; }));
  CHECK(test.clock.sleepers() == 0);
}

TEST_CASE("HttpServer waits for a slow handler as long as it takes") {
  HttpFixture test;
  RawClient client = test.connect();
  client.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  REQUIRE(test.until([&] { return test.site.seen.size() == 1; }));
  test.advance(1h);
  test.site.go_on.notify_all();
  CHECK_THAT(client.receive_until("at last"), EndsWith("at last"));
}

TEST_CASE("HttpServer refuses connections over its limit and keeps the others", "[C8]") {
  HttpFixture test({.limits = {.connections_max = 8}});
  std::vector<std::unique_ptr<RawClient>> held;
  for (std::size_t i = 0; i < 8; ++i) {
    held.push_back(std::make_unique<RawClient>(test.io, test.server->port()));
    REQUIRE(test.until([&] { return test.server->connections() == i + 1; }));
  }
  for (int i = 0; i < 1000; ++i) {
    const std::string answer = test.connect().receive_all();
    REQUIRE_THAT(answer, StartsWith("HTTP/1.1 503 "));
    REQUIRE_THAT(answer, EndsWith("\r\n\r\ntoo many connections\n"));
  }
  CHECK(test.server->connections() == 8);
  for (const auto& client : held) {
    client->send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK_THAT(client->receive_until("hello"), EndsWith("hello"));
  }
  held.pop_back();
  REQUIRE(test.until([&] { return test.server->connections() == 7; }));
  CHECK_THAT(test.ask("GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
             EndsWith("hello"));
}

TEST_CASE("HttpServer closes strangers in time, and keeps clients that a handler knows", "[A6]") {
  HttpFixture test({.limits = {.strangers_per_peer_max = 8}});
  RawClient idle = test.connect();
  RawClient talker = test.connect();
  RawClient known = test.connect();
  known.send("GET /vouch HTTP/1.1\r\nHost: x\r\n\r\n");
  known.receive_until("hello");
  for (int second = 0; second < 9; ++second) {
    talker.received().clear();
    talker.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
    talker.receive_until("hello");
    test.advance(1s);
  }
  CHECK(test.server->connections() == 3);
  test.advance(2s);
  CHECK(test.until([&] { return idle.closed() && talker.closed(); }));
  test.advance(60s);
  CHECK(test.server->connections() == 1);
  CHECK_FALSE(known.closed());
}

TEST_CASE("HttpServer closes a client whom no handler has known for long", "[A6]") {
  HttpFixture test({.limits = {.strangers_per_peer_max = 8}});
  RawClient reporter = test.connect();
  RawClient once = test.connect();
  const auto ask = [](RawClient& client, std::string_view path) {
    client.received().clear();
    client.send(fmt::format("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", path));
    CHECK_THAT(client.receive_until("hello"), EndsWith("hello"));
  };
  ask(once, "/vouch?as=once");
  for (int minute = 0; minute < 2; ++minute) {
    ask(reporter, "/vouch?as=reporter");
    ask(once, "/hello");
    test.advance(59s);
  }
  CHECK(test.server->connections() == 2);
  ask(reporter, "/vouch?as=reporter");
  test.advance(3s);
  CHECK(test.until([&] { return once.closed(); }));
  ask(reporter, "/vouch?as=reporter");
}

TEST_CASE("HttpServer: strangers make room for newer ones of their address", "[A6]") {
  HttpFixture test({.limits = {.strangers_per_peer_max = 4}});
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 4; ++i)
    idle.push_back(std::make_unique<RawClient>(test.io, test.server->port()));
  REQUIRE(test.until([&] { return test.server->connections() == 4; }));
  for (int i = 0; i < 4; ++i) {
    RawClient known = test.connect();
    known.send("GET /vouch HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK_THAT(known.receive_until("hello"), EndsWith("hello"));
    idle.push_back(std::make_unique<RawClient>(test.io, test.server->port()));
    REQUIRE(test.until([&] { return idle[static_cast<std::size_t>(i)]->closed(); }));
  }
}

TEST_CASE("HttpServer: strangers make room when all places are taken", "[A6]") {
  HttpFixture test({.limits = {.connections_max = 4, .strangers_per_peer_max = 4}});
  const auto ask = [](RawClient& client) {
    client.received().clear();
    client.send("GET /vouch HTTP/1.1\r\nHost: x\r\n\r\n");
    return client.receive_until("hello");
  };
  std::vector<std::unique_ptr<RawClient>> clients;
  const auto connect = [&] {
    clients.push_back(std::make_unique<RawClient>(test.io, test.server->port()));
    return clients.back().get();
  };
  RawClient* const stranger = connect();
  REQUIRE(test.until([&] { return test.server->connections() == 1; }));
  for (int i = 0; i < 4; ++i) CHECK_THAT(ask(*connect()), EndsWith("hello"));
  CHECK(test.until([&] { return stranger->closed(); }));
  // Nobody is left that would have to go.
  CHECK_THAT(test.connect().receive_all(), StartsWith("HTTP/1.1 503 "));
  for (std::size_t i = 1; i < clients.size(); ++i) CHECK_THAT(ask(*clients[i]), EndsWith("hello"));
}

TEST_CASE("HttpServer does not close a stranger whose request is being answered", "[A6]") {
  HttpFixture test({.limits = {.strangers_per_peer_max = 1}});
  RawClient client = test.connect();
  client.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  REQUIRE(test.until([&] { return test.site.seen.size() == 1; }));
  CHECK_THAT(test.connect().receive_all(), StartsWith("HTTP/1.1 503 "));
  test.site.go_on.notify_all();
  CHECK_THAT(client.receive_until("at last"), EndsWith("at last"));
}

TEST_CASE("HttpServer: a stranger that does not read its answers makes room", "[A6]") {
  HttpFixture test({.limits = {.connections_max = 2, .strangers_per_peer_max = 1}});
  RawClient client = test.connect();
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";
  boost::system::error_code full;
  // It never reads: at last the server can send nothing, and then this client neither.
  const auto stuck = [&] {
    client.socket().write_some(boost::asio::buffer(many), full);
    test.io.restart();
    return full == boost::asio::error::would_block && test.io.run_one_for(50ms) == 0;
  };
  while (!stuck()) {
  }
  RawClient other = test.connect();
  other.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK_THAT(other.receive_until("hello"), EndsWith("hello"));
}

}  // namespace
}  // namespace amdahl
