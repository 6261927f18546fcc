#include "checkpoint/format/chunks.hpp"

#include <catch2/catch.hpp>

#include "base/rng.hpp"
#include "checkpoint/format/verifier.hpp"

namespace amdahl::checkpoint {
namespace {

std::string random_bytes(Rng& rng, std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(rng.below(256));
  return bytes;
}

template <class Sink>
void add_in_pieces(Sink& sink, std::string_view bytes, Rng& rng) {
  while (!bytes.empty()) {
    const std::size_t count = std::min<std::size_t>(bytes.size(), rng.below(700));
    sink.add(bytes_of(bytes.substr(0, count)));
    bytes.remove_prefix(count);
  }
}

TEST_CASE("Sums do not depend on the pieces that bytes come in") {
  Rng rng(3);
  for (const std::size_t count : {0U, 1U, 511U, 512U, 513U, 1024U, 5000U}) {
    const std::string bytes = random_bytes(rng, count);
    for (const auto digests : {ChunkDigests::kCrc32c, ChunkDigests::kCrc32cAndSha256}) {
      ChunkSummer whole(512, digests);
      whole.add(bytes_of(bytes));
      const ChunkSums sums = whole.finish();
      CHECK(sums.bytes == static_cast<std::int64_t>(count));
      CHECK(sums.crc32c.size() == (count + 511) / 512);
      CHECK(sums.sha256.size() == (digests == ChunkDigests::kCrc32c ? 0 : sums.crc32c.size()));
      add_in_pieces(whole, bytes, rng);
      CHECK(whole.finish() == sums);
      Verifier verifier("o", sums);
      add_in_pieces(verifier, bytes, rng);
      CHECK(verifier.finish());
    }
  }
}

// The figures of the CRC are those of RFC 3720, B.4; the roots were worked out in Python.
TEST_CASE("Roots are those of the definition") {
  ChunkSummer summer(512);
  summer.add(bytes_of("123456789"));
  const ChunkSums sums = summer.finish();
  CHECK(sums.crc32c == std::vector<std::uint32_t>{0xe3069283U});
  CHECK(hex(object_root(sums)) ==
        "a0832a89b26438dc07c3bfc6377daa335ebada46c31b15afa215c09a01c4ca38");
  ChunkSummer strong(512, ChunkDigests::kCrc32cAndSha256);
  strong.add(bytes_of("123456789"));
  CHECK(hex(object_root(strong.finish())) ==
        "98ce5f1f3a1775d1b8c0efd57d2170c9ada3cf574cef3f5d2540ec8b8e80e1a7");
}

TEST_CASE("A verifier lists the bad chunks, missing ones and bytes too many") {
  Rng rng(5);
  const std::string bytes = random_bytes(rng, 2000);
  ChunkSummer summer(512);
  summer.add(bytes_of(bytes));
  const ChunkSums sums = summer.finish();

  Verifier cut("o", sums);
  cut.add(bytes_of(bytes.substr(0, 1000)));
  CHECK(cut.finish().error().context ==
        "o: chunk 1 (bytes 512 to 1024) is missing; 3 of 4 chunks are bad");
  CHECK(cut.bad_count() == 3);
  Verifier longer("o", sums);
  longer.add(bytes_of(bytes + "xy"));
  CHECK(longer.finish().error().context == "o: 2 bytes after its end at 2000");
  Verifier strong("o", sums);
  std::string damaged = bytes;
  damaged[0] = static_cast<char>(damaged[0] ^ 1);
  damaged[1999] = static_cast<char>(damaged[1999] ^ 1);
  strong.add(bytes_of(damaged));
  CHECK_FALSE(strong.finish());
  CHECK(strong.bad() == std::vector<BadChunk>{{.index = 0, .begin = 0, .end = 512},
                                              {.index = 3, .begin = 1536, .end = 2000}});
}

TEST_CASE("A verifier of a range judges whole chunks") {
  Rng rng(6);
  const std::string bytes = random_bytes(rng, 2000);
  ChunkSummer summer(512);
  summer.add(bytes_of(bytes));
  const ChunkSums sums = summer.finish();
  const auto judged = [&](std::size_t begin, std::size_t end) {
    Verifier verifier("o", sums, static_cast<std::int64_t>(begin / 512));
    verifier.add(bytes_of(bytes.substr(begin, end - begin)));
    return verifier.finish_range().has_value();
  };
  CHECK(judged(512, 1536));
  CHECK(judged(1536, 2000));
  CHECK(judged(0, 0));
  CHECK_FALSE(judged(512, 1535));
  CHECK_FALSE(judged(1536, 1999));
}

TEST_CASE("SHA-256 finds what a CRC was made to miss") {
  ChunkSummer summer(512, ChunkDigests::kCrc32cAndSha256);
  summer.add(bytes_of("genuine"));
  ChunkSums sums = summer.finish();
  ChunkSummer forged(512);
  forged.add(bytes_of("forgery"));
  sums.crc32c = forged.finish().crc32c;  // as if the forger had hit the CRC
  Verifier verifier("o", sums);
  verifier.add(bytes_of("forgery"));
  CHECK_FALSE(verifier.finish());
}

TEST_CASE("Base64 has one spelling") {
  for (const std::string text : {"", "QQ==", "QUI=", "QUJD"}) {
    const auto bytes = base64_decoded(text);
    REQUIRE(bytes);
    CHECK(base64(bytes_of(*bytes)) == text);
  }
  for (const std::string text :
       {"Q", "QQ", "QR==", "QQ=", "QQ==\n", " QQ==", "QQ==QQ==", "====", "Q===", "QU I=", "QUJ*"})
    CHECK_FALSE(base64_decoded(text));
}

}  // namespace
}  // namespace amdahl::checkpoint
