#include "base/inflate.hpp"

#include <catch2/catch.hpp>

#include "base/rng.hpp"
#include "base/test_gzip.hpp"

namespace amdahl {
namespace {

std::string noise(Rng& rng, std::size_t size) {
  std::string text;
  while (text.size() < size) text.push_back(static_cast<char>(rng.next()));
  return text;
}

TEST_CASE("gunzip gives back what was compressed", "[C8]") {
  Rng rng(1);
  for (const std::size_t size : {0u, 1u, 100u, 16'384u, 16'385u, 300'000u}) {
    INFO(size);
    for (const std::string& text : {std::string(size, 'a'), noise(rng, size)}) {
      const auto result = gunzip(gzip(text), size);
      REQUIRE(result);
      CHECK(*result == text);
    }
  }
}

TEST_CASE("gunzip stops at the limit, whatever the ratio", "[C8]") {
  const std::string bomb = gzip(std::string(50'000'000, '\0'));
  CHECK(bomb.size() < 60'000);
  const auto result = gunzip(bomb, 1'000'000);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == Errc::kTooLarge);
  CHECK(gunzip(gzip("12345"), 5));
  CHECK(gunzip(gzip("12345"), 4).error().code == Errc::kTooLarge);
}

TEST_CASE("gunzip refuses what is not one whole gzip stream", "[C8]") {
  const std::string good = gzip("the quick brown fox");
  for (std::size_t cut = 0; cut < good.size(); ++cut) {
    INFO(cut);
    const auto result = gunzip(std::string_view(good).substr(0, cut), 1000);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == Errc::kCorrupt);
  }
  CHECK(gunzip("plain text", 1000).error().code == Errc::kCorrupt);
  CHECK(gunzip(good + "trailing", 1000).error().code == Errc::kCorrupt);
  std::string flipped = good;
  flipped[good.size() - 6] = static_cast<char>(flipped[good.size() - 6] ^ 1);  // the checksum
  CHECK(gunzip(flipped, 1000).error().code == Errc::kCorrupt);
  CHECK(*gunzip(good + gzip("!"), 1000) == "the quick brown fox!");
}

TEST_CASE("Inflater takes the stream in pieces of any size", "[C8]") {
  Rng rng(2);
  const std::string text = noise(rng, 5'000) + std::string(50'000, 'z');
  const std::string compressed = gzip(text) + gzip("tail");
  for (const std::size_t piece : {1u, 7u, 4096u}) {
    Inflater inflater(100'000);
    std::string out;
    for (std::size_t at = 0; at < compressed.size(); at += piece)
      REQUIRE(inflater.feed(std::string_view(compressed).substr(at, piece), out));
    REQUIRE(inflater.finish());
    CHECK(out == text + "tail");
  }
  Inflater broken(10);
  std::string out;
  CHECK_FALSE(broken.feed("no gzip at all", out));
  CHECK_FALSE(broken.feed(compressed, out));
  CHECK_FALSE(broken.finish());
}

}  // namespace
}  // namespace amdahl
