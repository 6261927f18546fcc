// Answers in gzip, through the transport: decoded wherever they were cut, and never past a limit.

#include <catch2/catch.hpp>

#include "base/rng.hpp"
#include "base/test_gzip.hpp"
#include "operator/kube/test_http_fixture.hpp"

namespace amdahl::kube {
namespace {

using namespace std::chrono_literals;
using testkit::chunk;
using testkit::http_response;
using testkit::Script;

constexpr std::string_view kEncoding = "Content-Encoding: gzip\r\n";
constexpr std::string_view kChunkedHead =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
    "Transfer-Encoding: chunked\r\n\r\n";

std::string chunked(std::string_view compressed, std::size_t piece) {
  std::string wire(kChunkedHead);
  for (std::size_t at = 0; at < compressed.size(); at += piece)
    wire += chunk(compressed.substr(at, piece));
  return wire + std::string(testkit::kLastChunk);
}

std::string some_pods(int count) {
  std::string text = "{\"items\":[";
  for (int i = 0; i < count; ++i)
    text += fmt::format("{}{{\"name\":\"llama-{}\"}}", i ? "," : "", i);
  return text + "]}";
}

TEST_CASE("An answer in gzip is decoded, by length and in chunks", "[C8]") {
  const std::string text = some_pods(5000);
  const std::string compressed = gzip(text);
  REQUIRE(compressed.size() < text.size() / 4);
  for (const std::string& wire :
       {http_response(200, compressed, kEncoding), chunked(compressed, compressed.size()),
        chunked(compressed, 1000), chunked(compressed, 7)}) {
    TransportFixture fixture;
    fixture.server.play_always(Script().expect().send_in_pieces(wire, 1999).forever());
    for (const Request& request : {get_pod(), list_pods()}) {
      const auto response = fixture.send(request);
      REQUIRE(response);
      CHECK(response->status == 200);
      CHECK(response->body == text);
    }
    CHECK(fixture.server.connections() == 1);  // the framing was read to its end
  }
}

TEST_CASE("The name of the coding counts in any case, and an empty body is an empty stream",
          "[C8]") {
  TransportFixture fixture;
  fixture.server.play(
      Script().expect().send(http_response(200, gzip("{}"), "content-encoding: GZip\r\n")));
  CHECK(fixture.send(get_pod())->body == "{}");
  fixture.server.play(Script().expect().send(http_response(200, gzip(""), kEncoding)));
  CHECK(fixture.send(get_pod())->body.empty());
}

TEST_CASE("A gzip bomb is refused at the limit of what it stands for, with verb and object",
          "[C8]") {
  const std::string bomb = gzip(std::string(20'000'000, '0'));
  REQUIRE(bomb.size() < 40'000);
  for (const std::string& wire : {http_response(200, bomb, kEncoding), chunked(bomb, 500)}) {
    TransportFixture fixture;
    fixture.server.play_always(Script().expect().send(wire).forever());
    const auto response = fixture.send(get_pod());
    REQUIRE_FALSE(response);
    CHECK(response.error().code == Errc::kTooLarge);
    CHECK(response.error().context ==
          fmt::format("get pods research/llama-0: {}: the body is over the limit of {} bytes once "
                      "it is unpacked",
                      fixture.server.address(), kObjectBytesMax));
    // The limit is the one of the request: the same bytes are a list that fits.
    const auto list = fixture.send(list_pods());
    REQUIRE(list);
    CHECK(list->body.size() == 20'000'000);
  }
}

TEST_CASE("A compressed body is held to the limit before it is unpacked, too", "[C8]") {
  TransportFixture fixture;
  fixture.options.object_bytes_max = 100;
  fixture.server.play(Script().expect().send(http_response(200, gzip("{}"), kEncoding)));
  CHECK(fixture.send(get_pod())->body == "{}");
  std::string noise;
  Rng rng(1);
  while (noise.size() < 101) noise.push_back(static_cast<char>(rng.next()));
  fixture.server.play(Script().expect().send(http_response(200, gzip(noise), kEncoding)));
  CHECK(fixture.send(get_pod()).error().code == Errc::kTooLarge);
}

TEST_CASE("A gzip body that is cut or damaged is corrupt and says where it came from", "[C8]") {
  const std::string good = gzip(some_pods(100));
  std::string damaged = good;
  damaged[good.size() - 6] = static_cast<char>(damaged[good.size() - 6] ^ 1);  // the checksum
  for (const std::string& body : {good.substr(0, good.size() / 2), damaged, good + "more"}) {
    TransportFixture fixture;
    fixture.server.play(Script().expect().send(http_response(200, body, kEncoding)));
    const auto response = fixture.send(get_pod());
    REQUIRE_FALSE(response);
    CHECK(response.error().code == Errc::kCorrupt);
    CHECK_THAT(response.error().context,
               Catch::StartsWith("get pods research/llama-0: " + fixture.server.address() + ": "));
    CHECK_THAT(response.error().context, Catch::Contains("gunzip"));
  }
}

}  // namespace
}  // namespace amdahl::kube
