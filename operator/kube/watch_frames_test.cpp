#include "operator/kube/watch_frames.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

namespace amdahl::kube {
namespace {

void feed(WatchFrames& frames, std::string_view bytes) {
  std::ranges::copy(bytes, frames.prepare(bytes.size()).begin());
  frames.filled(bytes.size());
}

TEST_CASE("A JSON stream is cut at its newlines, wherever the bytes were cut") {
  const std::string body = "{\"a\":1}\n{\"b\":2}\n\n{\"c\"";
  for (std::size_t piece = 1; piece <= body.size(); ++piece) {
    WatchFrames frames(Encoding::kJson);
    std::vector<std::string> seen;
    for (std::size_t at = 0; at < body.size(); at += piece) {
      feed(frames, std::string_view(body).substr(at, piece));
      for (auto frame = frames.next(); *frame; frame = frames.next()) seen.emplace_back(**frame);
    }
    CHECK(seen == std::vector<std::string>{"{\"a\":1}", "{\"b\":2}", ""});
    CHECK_FALSE(frames.empty());
  }
}

TEST_CASE("A protobuf stream is cut by its lengths") {
  using namespace std::string_literals;
  WatchFrames frames(Encoding::kProtobuf);
  feed(frames, "\0\0\0\3abc\0\0"s);
  CHECK(**frames.next() == "abc");
  CHECK_FALSE(*frames.next());
  feed(frames, "\0\1"s);
  CHECK_FALSE(*frames.next());
  feed(frames, "z\0\0\0\0"s);
  CHECK(**frames.next() == "z");
  CHECK(**frames.next() == "");
}

TEST_CASE("An event without an end is refused at its limit", "[C8]") {
  WatchFrames frames(Encoding::kJson);
  const std::string block(1U << 20U, 'x');
  Result<std::optional<std::string_view>> result = std::nullopt;
  for (int i = 0; i < 9 && result; ++i) {
    feed(frames, block);
    result = frames.next();
  }
  REQUIRE_FALSE(result);
  CHECK(result.error().code == Errc::kTooLarge);

  WatchFrames wire(Encoding::kProtobuf);
  feed(wire, "\x7f\xff\xff\xff");
  CHECK(wire.next().error().code == Errc::kTooLarge);
}

TEST_CASE("An event is understood in the usual form and in any other") {
  const auto check = [](std::string frame, FrameKind kind, std::string_view object) {
    INFO(frame);
    const std::size_t size = frame.size();
    frame.resize(size + 64, ' ');
    const auto parsed = parse_frame(std::string_view(frame).substr(0, size), Encoding::kJson);
    REQUIRE(parsed);
    CHECK(parsed->kind == kind);
    CHECK(parsed->object == object);
  };
  check(R"({"type":"ADDED","object":{"x":1}})", FrameKind::kAdded, R"({"x":1})");
  check(R"({"type":"MODIFIED","object":{}})", FrameKind::kModified, "{}");
  check(R"({"object":{"x":[1,2]},"type":"DELETED"})", FrameKind::kDeleted, R"({"x":[1,2]})");
  check(R"({ "type" : "BOOKMARK", "object" : {"y":2} })", FrameKind::kBookmark, R"({"y":2})");
  check(R"({"type":"ERROR","object":{"code":410}})", FrameKind::kError, R"({"code":410})");
  check(R"({"type":"RENAMED","object":{}})", FrameKind::kUnknown, "{}");
}

}  // namespace
}  // namespace amdahl::kube
