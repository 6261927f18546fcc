#include "operator/kube/http_transport.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>

#include "operator/kube/http_framing.hpp"
#include "operator/kube/test_http_fixture.hpp"

namespace amdahl::kube {
namespace {

using namespace std::chrono_literals;
using testkit::http_ok;
using testkit::http_response;
using testkit::Script;

TEST_CASE("HttpTransport writes exactly this request", "[C7]") {
  TransportFixture fixture;
  fixture.options.server.base_path = "/clusters/a";
  fixture.server.play_always(Script().expect().send(http_ok("{}")).forever());
  REQUIRE(fixture.send(get_pod()));
  REQUIRE(fixture.send(create_pod()));
  const auto& requests = fixture.server.requests();
  const std::string common = "Host: " + fixture.server.address() + "\r\nUser-Agent: amdahl\r\n";
  const std::string bearer = "Authorization: Bearer " + std::string(kSecret) + "\r\n";
  CHECK(requests.at(0).head ==
        "GET /clusters/a/api/v1/namespaces/research/pods/llama-0 HTTP/1.1\r\n" + common +
            "Accept: application/json\r\n" + bearer + "\r\n");
  CHECK(requests.at(1).head ==
        "POST /clusters/a/api/v1/namespaces/research/pods?fieldValidation=Strict HTTP/1.1\r\n" +
            common + "Accept: application/json\r\nContent-Type: application/json\r\n" + bearer +
            "Content-Length: 14\r\n\r\n");
  CHECK(requests.at(1).body == R"({"kind":"Pod"})");
}

TEST_CASE("HttpTransport returns status, headers and body, however the bytes arrive") {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, std::size_t{4096}}) {
    TransportFixture fixture;
    const std::string chunked = testkit::chunked_head() + testkit::chunk("hel") +
                                testkit::chunk("lo") + std::string(testkit::kLastChunk);
    fixture.server.play(Script().expect().send_in_pieces(chunked, piece));
    const auto response = fixture.send(get_pod());
    REQUIRE(response);
    CHECK(response->status == 200);
    CHECK(response->header("content-TYPE") == "application/json");
    CHECK(response->body == "hello");
  }
}

TEST_CASE("HttpTransport hands every status on with its body") {
  TransportFixture fixture;
  for (const int status : {400, 403, 404, 409, 410, 413, 422, 429, 500, 503, 504}) {
    fixture.server.play(
        Script().expect().send(http_response(status, "why", "Connection: close\r\n")));
    const auto response = fixture.send(get_pod());
    REQUIRE(response);
    CHECK(response->status == status);
    CHECK(response->body == "why");
  }
}

TEST_CASE("HttpTransport keeps connections and uses them again") {
  TransportFixture fixture;
  fixture.server.play_always(Script().expect().send(http_ok("{}")).forever());
  for (int i = 0; i < 5; ++i) REQUIRE(fixture.send(i % 2 == 0 ? get_pod() : create_pod()));
  CHECK(fixture.server.connections() == 1);
  CHECK(fixture.transport().stats().connections_reused == 4);
}

TEST_CASE("A connection is not used again when its response forbids it") {
  for (const std::string& response :
       {http_response(200, "{}", "Connection: close\r\n"), http_ok("{}") + "stray bytes"}) {
    TransportFixture fixture;
    fixture.server.play_always(Script().expect().send(response).forever());
    REQUIRE(fixture.send(get_pod()));
    REQUIRE(fixture.send(get_pod()));
    CHECK(fixture.server.connections() == 2);
  }
}

TEST_CASE("A kept connection that the server has closed is replaced before use", "[W10]") {
  for (const bool reset : {false, true}) {
    TransportFixture fixture;
    Script first;
    first.expect().send(http_ok("{}"));
    fixture.server.play(reset ? first.reset() : first.close());
    fixture.server.play(Script().expect().send(http_ok("{}")));
    REQUIRE(fixture.send(get_pod()));
    run_until_complete(fixture.io, fixture.clock.sleep_for(5ms));
    CHECK(fixture.send(create_pod()));  // nothing was sent twice, so a write is fine too
    CHECK(fixture.server.requests().size() == 2);
  }
}

TEST_CASE("A request lost on a kept connection is repeated only if it is a read", "[W10]") {
  for (const bool reset : {false, true}) {
    const auto play = [&](Request request) {
      TransportFixture fixture;
      Script first;
      first.expect().send(http_ok("{}")).expect();
      fixture.server.play(reset ? first.reset() : first.close());
      fixture.server.play_always(Script().expect().send(http_ok("{}")).forever());
      REQUIRE(fixture.send(get_pod()));
      const auto second = fixture.send(std::move(request));
      return std::pair(second, fixture.server.requests().size());
    };
    const auto [read, read_requests] = play(get_pod());
    CHECK(read);
    CHECK(read_requests == 3);
    const auto [write, write_requests] = play(create_pod());
    REQUIRE_FALSE(write);
    CHECK(write.error().code == Errc::kIo);
    CHECK(write_requests == 2);
  }
}

TEST_CASE("A request lost on a fresh connection is not repeated by the transport", "[W10]") {
  TransportFixture fixture;
  fixture.server.play_always(Script().expect().reset());
  const auto response = fixture.send(get_pod());
  REQUIRE_FALSE(response);
  CHECK(response.error().code == Errc::kIo);
  CHECK(fixture.server.requests().size() == 1);
}

TEST_CASE("A refused connection is an error that names verb, object and address") {
  TransportFixture fixture;
  const std::string address = fixture.server.address();
  fixture.server.refuse();
  const auto response = fixture.send(get_pod());
  REQUIRE_FALSE(response);
  CHECK(response.error().code == Errc::kIo);
  CHECK(response.error().context ==
        "get pods research/llama-0: connect " + address + ": connection refused");
}

TEST_CASE("A host name that does not exist is an error, by the deadline") {
  TransportFixture fixture;
  fixture.options.server.host = "no-such-host.invalid";
  fixture.options.credentials = nullptr;
  const auto response = fixture.send(get_pod());
  REQUIRE_FALSE(response);
  CHECK((response.error().code == Errc::kIo || response.error().code == Errc::kTimeout));
  CHECK(response.error().context.find("resolve no-such-host.invalid") != std::string::npos);
}

TEST_CASE("localhost is resolved and every address tried") {
  TransportFixture fixture;
  fixture.options.server.host = "localhost";
  fixture.server.play(Script().expect().send(http_ok("{}")));
  CHECK(fixture.send(get_pod()));
}

TEST_CASE("A server that accepts and never answers costs one deadline", "[L8]") {
  for (const Script& script :
       {Script().silence(), Script().expect().silence(),
        Script().expect().send("HTTP/1.1 200 OK\r\nContent-Len").silence(),
        Script().expect().send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf").silence()}) {
    TransportFixture fixture;
    fixture.server.play(script);
    const Monotonic start = fixture.clock.monotonic();
    const auto response = fixture.send(get_pod(), 50ms);
    REQUIRE_FALSE(response);
    CHECK(response.error().code == Errc::kTimeout);
    CHECK(response.error().context.find("get pods research/llama-0: ") == 0);
    CHECK(response.error().context.find(fixture.server.address()) != std::string::npos);
    CHECK(fixture.clock.monotonic() - start < 2s);
    run_until_complete(fixture.io, fixture.clock.sleep_for(5ms));
    CHECK(fixture.server.open_connections() == 0);  // it was closed, not kept
  }
}

TEST_CASE("Bytes that are not a whole HTTP response are an error", "[C8]") {
  const std::string chunked = testkit::chunked_head();
  struct Row {
    std::string bytes;
    Errc code;
  };
  const Row rows[] = {
      {"", Errc::kIo},
      {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", Errc::kIo},
      {chunked + "5\r\nhe", Errc::kIo},
      {chunked + "5\r\nhello\r\n", Errc::kIo},
      {chunked + "zz\r\nhello\r\n", Errc::kCorrupt},
      {chunked + "5\r\nhello there\r\n", Errc::kCorrupt},
      {"220 mail.example.com ESMTP\r\n", Errc::kCorrupt},
      {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi!", Errc::kCorrupt},
      {"HTTP/1.1 200 OK\r\nX: " + std::string(kHeaderBytesMax, 'x') + "\r\n\r\n", Errc::kTooLarge},
      {"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\nhi", Errc::kCorrupt},
      {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhi", Errc::kCorrupt},
  };
  for (const Row& row : rows) {
    INFO(row.bytes.substr(0, 80));
    TransportFixture fixture;
    fixture.server.play(Script().expect().send(row.bytes));
    const auto response = fixture.send(get_pod());
    REQUIRE_FALSE(response);
    CHECK(response.error().code == row.code);
    CHECK(response.error().context.find("get pods research/llama-0: ") == 0);
  }
}

TEST_CASE("An object of 200 MB is refused at its limit without being read to its end", "[C8]") {
  constexpr std::uint64_t kHuge = 200'000'000;
  const std::string by_length =
      "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kHuge) + "\r\n\r\n";
  const std::string by_chunk = testkit::chunked_head() + "bebc200\r\n";  // the same, in hex
  const std::string by_close = "HTTP/1.1 200 OK\r\n\r\n";
  for (const std::string& head : {by_length, by_chunk, by_close}) {
    TransportFixture fixture;
    fixture.server.play(Script().expect().send(head).send_zeros(kHuge));
    const auto response = fixture.send(get_pod());
    REQUIRE_FALSE(response);
    CHECK(response.error().code == Errc::kTooLarge);
    CHECK(response.error().context.find(std::to_string(kObjectBytesMax)) != std::string::npos);
    // The limit, and what two socket buffers hold.
    CHECK(fixture.server.bytes_sent() < kObjectBytesMax + (std::uint64_t{16} << 20U));
  }
}

TEST_CASE("A body exactly at its limit is whole, and lists may be larger than objects", "[C8]") {
  TransportFixture fixture;
  fixture.options.object_bytes_max = 10;
  fixture.options.list_bytes_max = 20;
  fixture.server.play_always(Script()
                                 .reply([](const testkit::ReceivedRequest& request) {
                                   const bool list = request.target.ends_with("/pods");
                                   return testkit::chunked_head() +
                                          testkit::chunk(std::string(list ? 20 : 10, 'x')) +
                                          std::string(testkit::kLastChunk);
                                 })
                                 .forever());
  CHECK(fixture.send(get_pod())->body.size() == 10);
  CHECK(fixture.send(list_pods())->body.size() == 20);
  CHECK(fixture.server.connections() == 1);
}

TEST_CASE("The text of a refusal is cut, not refused", "[C8]") {
  TransportFixture fixture;
  const std::string text(kErrorBytesMax + 1000, 'x');
  fixture.server.play_always(Script().expect().send(http_response(500, text)).forever());
  const auto response = fixture.send(get_pod());
  REQUIRE(response);
  CHECK(response->status == 500);
  CHECK(response->body.size() == kErrorBytesMax);
  CHECK(fixture.transport().idle_connections() == 0);
}

TEST_CASE("A connection has the socket options that find dead peers", "[L8]") {
  boost::asio::io_context io;
  RealClock clock;
  testkit::ScriptedServer server(io, clock);
  server.play(Script().silence());
  const auto connection =
      run_until_complete(io, Connection::open({.host = "127.0.0.1", .port = server.port()}, clock));
  REQUIRE(connection);
  const auto option = [&](int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    ::getsockopt((*connection)->native_handle(), level, name, &value, &size);
    return value;
  };
  CHECK(option(SOL_SOCKET, SO_KEEPALIVE) == 1);
  CHECK(option(IPPROTO_TCP, TCP_NODELAY) != 0);
  CHECK(option(IPPROTO_TCP, TCP_KEEPIDLE) == 30);
  CHECK(option(IPPROTO_TCP, TCP_USER_TIMEOUT) == 30'000);
}

}  // namespace
}  // namespace amdahl::kube
