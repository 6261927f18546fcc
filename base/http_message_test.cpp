#include "base/http_message.hpp"

#include <catch2/catch.hpp>

namespace amdahl {
namespace {
using Step = HttpRequestParser::Step;

// Feeds the bytes in pieces; "METHOD path k=v ... body" or the status of the refusal.
std::string parse(std::string_view bytes, std::size_t piece, const HttpLimits& limits = {}) {
  HttpRequestParser parser(limits);
  std::string input;
  for (;;) {
    const Step step = parser.advance(input);
    if (step == Step::kRefused) return fmt::format("{}", parser.refusal().status);
    if (step == Step::kDone) break;
    if (step == Step::kHead) continue;
    if (bytes.empty()) return "needs more";
    input += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  const HttpRequest request = parser.take();
  std::string text = request.method + " " + request.path;
  for (const auto& [key, value] : request.query) text += " " + key + "=" + value;
  return text + " " + request.body;
}

TEST_CASE("HttpRequestParser reads the same request from pieces of any size") {
  const auto check = [](std::string_view bytes, std::string_view expected) {
    INFO(bytes);
    for (std::size_t piece = 1; piece <= bytes.size(); ++piece)
      REQUIRE(parse(bytes, piece) == expected);
  };
  check("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / ");
  check("GET /a%20b?x=1&y=%26+z&&flag&e= HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /a b x=1 y=& z flag= e= ");
  check("GET http://host:80/p?q=1 HTTP/1.1\r\nHost: x\r\n\r\n", "GET /p q=1 ");
  check("GET http://host HTTP/1.1\r\nHost: x\r\n\r\n", "GET / ");
  check("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "OPTIONS * ");
  check("PATCH /a HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhello", "PATCH /a hello");
  check("FETCH /a HTTP/1.1\r\nHost: x\r\n\r\n", "FETCH /a ");
  check(
      "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
      "Chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n"
      "Trailer: 1\r\n\r\n",
      "POST /a abcde");
  check("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabc", "needs more");
  check("GET /.../.a/b.. HTTP/1.0\r\n\r\n", "GET /.../.a/b.. ");
}

TEST_CASE("HttpRequestParser keeps trailers out of the headers") {
  HttpRequestParser parser(HttpLimits{});
  std::string input =
      "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
      "X-Remote-User: admin\r\n\r\nGET /next";
  CHECK(parser.advance(input) == Step::kHead);
  CHECK(parser.advance(input) == Step::kDone);
  CHECK(input == "GET /next");
  CHECK(parser.take().header("X-Remote-User").empty());
}

TEST_CASE("HttpRequestParser never asks for more than a bounded input", "[C8]") {
  const HttpLimits limits{.header_bytes_max = 1000};
  for (const std::string_view start :
       {"",
        "GET / HTTP/1.1\r\nX: ", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: "}) {
    INFO(start);
    const std::string bytes = std::string(start) + std::string(100'000, 'a');
    CHECK(parse(bytes, 100, limits).size() == 3);  // a status, not "needs more"
  }
}

TEST_CASE("render_http_head writes what the body needs, and refuses what would forge an answer") {
  const WallTime now{std::chrono::seconds{1'700'000'000}};
  const HttpResponse response{.status = 201, .content_type = "a/b", .headers = {{"X-A", "b c"}}};
  const std::string date = "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n";
  CHECK(*render_http_head(response, {.body_bytes = 7}, now) ==
        "HTTP/1.1 201 Created\r\n" + date +
            "Content-Length: 7\r\nContent-Type: a/b\r\nX-A: b c\r\n\r\n");
  CHECK(*render_http_head(response, {.close = true}, now) ==
        "HTTP/1.1 201 Created\r\n" + date +
            "Transfer-Encoding: chunked\r\nConnection: close\r\nContent-Type: a/b\r\nX-A: b "
            "c\r\n\r\n");
  CHECK(*render_http_head({.status = 304}, {.body_bytes = 7}, now) ==
        "HTTP/1.1 304 Not Modified\r\n" + date + "\r\n");
  CHECK_FALSE(render_http_head({.status = 99}, {}, now));
  CHECK_FALSE(render_http_head({.content_type = "a\nb"}, {}, now));
  for (const char* name : {"", "a b", "a:", "a\r\n", "\xc3\xa9"})
    CHECK_FALSE(render_http_head({.headers = {{name, "v"}}}, {}, now));
  for (const char* value : {"a\r\nb", "a\nb", "a\x7f", "\x01"})
    CHECK_FALSE(render_http_head({.headers = {{"n", value}}}, {}, now));
}

}  // namespace
}  // namespace amdahl
