#include "operator/kube/http_framing.hpp"

#include <catch2/catch.hpp>

namespace amdahl::kube {
namespace {

struct Parsed {
  ResponseHead head;
  std::string body;
  std::size_t consumed = 0;
  bool done = false;
};

// Gives the bytes in pieces of `piece`, and takes the body in pieces of `room`.
Result<Parsed> parse(std::string_view bytes, std::size_t piece, std::size_t room,
                     bool close = false) {
  ResponseFraming framing;
  std::string input;
  Parsed parsed;
  std::vector<char> output(room);
  const auto step = [&]() -> Result<void> {
    if (!framing.head_done()) {
      TRY(const auto used, framing.read_head(input));
      input.erase(0, used);
      parsed.consumed += used;
    }
    while (framing.head_done() && !framing.body_done()) {
      TRY(const auto decoded, framing.decode_body(input, output));
      input.erase(0, decoded.consumed);
      parsed.consumed += decoded.consumed;
      parsed.body.append(output.data(), decoded.produced);
      if (decoded.consumed == 0) break;
    }
    return {};
  };
  for (std::size_t at = 0; at < bytes.size() && !framing.body_done(); at += piece) {
    input += bytes.substr(at, piece);
    TRY(step());
  }
  if (close && !framing.body_done()) TRY(framing.finish());
  parsed.head = framing.head();
  parsed.done = framing.body_done();
  return parsed;
}

constexpr std::size_t kAll = 1'000'000;

void check_body(std::string_view bytes, std::string_view body, bool keep_alive,
                bool close = false) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, kAll})
    for (const std::size_t room : {std::size_t{1}, std::size_t{3}, kAll}) {
      INFO(bytes << " in pieces of " << piece << " into " << room);
      const auto parsed = parse(bytes, piece, room, close);
      REQUIRE(parsed);
      CHECK(parsed->done);
      CHECK(parsed->body == body);
      CHECK(parsed->head.keep_alive == keep_alive);
    }
}

TEST_CASE("A response body ends where its framing says, however the bytes arrive", "[C8]") {
  check_body("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", true);
  check_body("HTTP/1.1 200\r\ncontent-length:5 \r\n\r\nhello", "hello", true);
  check_body("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", "hello",
             true);
  check_body("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", true);
  check_body("HTTP/1.1 204 No Content\r\n\r\n", "", true);
  check_body("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "", true);
  check_body(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
      "hello world", true);
  check_body(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"
      "05;name=\"x\"\r\nhello\r\n00\r\nX-Trailer: 1\r\nY: 2\r\n\r\n",
      "hello", true);
  check_body("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", "hi", false);
  check_body("HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 2\r\n\r\nhi", "hi",
             false);
  check_body("HTTP/1.1 200 OK\r\n\r\nuntil the end", "until the end", false, /*close=*/true);
  check_body("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi", false);
  check_body("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", "hi",
             true);
  check_body(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n"
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
      "hi", true);
}

TEST_CASE("Bytes behind a response are left alone") {
  const std::string first =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
  const auto parsed = parse(first + "HTTP/1.1 200 OK", kAll, kAll);
  REQUIRE(parsed);
  CHECK(parsed->consumed == first.size());
}

TEST_CASE("Headers are found without regard to case") {
  const auto parsed =
      parse("HTTP/1.1 429 Slow\r\nRETRY-After: \t7 \r\nContent-Length: 0\r\n\r\n", 1, 1);
  REQUIRE(parsed);
  CHECK(parsed->head.status == 429);
  CHECK(find_header(parsed->head.headers, "retry-after") == "7");
  CHECK(find_header(parsed->head.headers, "retry").empty());
}

TEST_CASE("What is not HTTP is refused, and early", "[C8]") {
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  for (const std::string& bytes : {
           std::string("SSH-2.0-OpenSSH\r\n"),
           std::string("\x15\x03\x01\x02\x02"),
           std::string("HTTP/2.0 200 OK\r\n\r\n"),
           std::string("HTTP/1.1 20 OK\r\n\r\n"),
           std::string("HTTP/1.1 2000 OK\r\n\r\n"),
           std::string("HTTP/1.1 099 OK\r\n\r\n"),
           std::string("HTTP/1.1 -20 OK\r\n\r\n"),
           std::string("HTTP/1.1 101 Switching Protocols\r\n\r\n"),
           ok + "no colon here\r\n\r\n",
           ok + ": no name\r\n\r\n",
           ok + "Bad Name: x\r\n\r\n",
           ok + "A: b\r\n folded\r\n\r\n",
           ok + "A: b\nB: c\r\n\r\n",
           ok + "A: b\x01\r\n\r\n",
           ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
           ok + "Content-Length: +5\r\n\r\n",
           ok + "Content-Length: -5\r\n\r\n",
           ok + "Content-Length: 5, 5\r\n\r\n",
           ok + "Content-Length: 99999999999999999999\r\n\r\n",
           ok + "Content-Length:\r\n\r\n",
           ok + "Transfer-Encoding: gzip, chunked\r\n\r\n",
           ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
           ok + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
           std::string("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
           chunked + "zz\r\n",
           chunked + "\r\n",
           chunked + " 5\r\nhello\r\n",
           chunked + "-5\r\nhello\r\n",
           chunked + "0x5\r\nhello\r\n",
           chunked + "5\nhello\r\n0\r\n\r\n",
           chunked + "FFFFFFFFFFFFFFFF\r\n",
           chunked + "5\r\nhello!\r\n",
           chunked + "5\r\nhello\n0\r\n\r\n",
           chunked + "0\r\nnot a trailer\r\n\r\n",
           chunked + std::string(300, '0'),
           chunked + "5;" + std::string(300, 'x'),
       }) {
    for (const std::size_t piece : {std::size_t{1}, kAll}) {
      INFO(bytes.substr(0, 100));
      const auto parsed = parse(bytes, piece, kAll);
      REQUIRE_FALSE(parsed);
      CHECK(parsed.error().code == Errc::kCorrupt);
    }
  }
}

TEST_CASE("A head, its headers and trailers have limits that are named", "[C8]") {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const std::string chunked = ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n";
  std::string many = ok;
  for (std::size_t i = 0; i <= kHeaderCountMax; ++i) many += "A: b\r\n";
  std::string trailers = chunked;
  while (trailers.size() < kHeaderBytesMax + 4096) trailers += "A: bbbbbbbbbbbbbbbbbbbbbbbbb\r\n";
  for (const std::string& bytes :
       {ok + "A: " + std::string(kHeaderBytesMax, 'x'),
        ok + "A: " + std::string(kHeaderBytesMax, 'x') + "\r\n\r\n", many + "\r\n", trailers,
        chunked + std::string(kHeaderBytesMax + 1, 'x')}) {
    const auto parsed = parse(bytes, 8192, kAll);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == Errc::kTooLarge);
    CHECK(parsed.error().context.find("over") != std::string::npos);
  }
  std::string interim;
  for (std::uint32_t i = 0; i <= kInterimResponsesMax; ++i)
    interim += "HTTP/1.1 100 Continue\r\n\r\n";
  CHECK_FALSE(parse(interim, kAll, kAll));
}

TEST_CASE("A close in the middle of a response is an error that says where", "[C8]") {
  const auto text = [](std::string_view bytes) {
    const auto parsed = parse(bytes, kAll, kAll, /*close=*/true);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == Errc::kIo);
    return parsed.error().context;
  };
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  CHECK(text("") == "closed by the server before it answered");
  CHECK(text("HTTP/1.1 2") == "closed by the server in the middle of the head");
  CHECK(text("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel") ==
        "closed by the server with 2 bytes of the body missing");
  CHECK(text(chunked + "5\r\nhel") == "closed by the server with 2 bytes of the chunk missing");
  CHECK(text(chunked + "5\r\nhello\r\n") == "closed by the server between two chunks");
  CHECK(text(chunked + "0\r\n") == "closed by the server between two chunks");
}

}  // namespace
}  // namespace amdahl::kube
