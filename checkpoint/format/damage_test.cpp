// Whatever happens to stored bytes is noticed: every bit turned, every length cut, pieces swapped.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "checkpoint/format/owner.hpp"
#include "checkpoint/format/test_sample.hpp"
#include "checkpoint/format/verifier.hpp"

namespace amdahl::checkpoint::test {
namespace {

// Calls `accepted` with every text that differs from this one in one bit, and with every beginning
// of it; it must never say yes.
template <class Accepted>
void expect_notices_damage(std::string text, Accepted accepted) {
  REQUIRE(accepted(text));
  for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
    const char mask = static_cast<char>(1U << bit % 8);
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ mask);
    if (accepted(text)) FAIL("bit " << bit % 8 << " of byte " << bit / 8 << " was not missed");
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ mask);
  }
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
    if (accepted(text.substr(0, bytes))) FAIL("cut at " << bytes << " and not noticed");
  CHECK_FALSE(accepted(text + " "));
  CHECK_FALSE(accepted(text + "\n"));
}

std::string name_of(const Prefix& prefix, std::string_view folder) {
  return prefix.lower_bound(std::string(folder))->first;
}

TEST_CASE("A manifest notices every damage") {
  const Prefix prefix = sample_prefix();
  for (const std::int64_t step : {kFullStep, kDeltaStep}) {
    const std::string name = manifest_name(step);
    expect_notices_damage(prefix.at(name), [&](const std::string& text) {
      const auto read = read_manifest(name, text);
      if (!read || step == kFullStep) return read.has_value();
      // A bit of the signature is not in the seal's digest: the key notices it.
      const auto key = public_key_of(sample_key());
      return check_signature(text, *read, {.keys = {&*key, 1}}).has_value();
    });
  }
}

TEST_CASE("A receipt and an owner record notice every damage") {
  const Prefix prefix = sample_prefix();
  const std::string name = name_of(prefix, "receipts/");
  expect_notices_damage(prefix.at(name), [&](const std::string& text) {
    return read_receipt(name, text).has_value();
  });
  expect_notices_damage(prefix.at("owner.jsonl"),
                        [&](const std::string& text) { return read_owner(text).has_value(); });
}

TEST_CASE("An object's sums notice every damage, and say where") {
  const Prefix prefix = sample_prefix();
  const auto receipts = receipts_of(prefix, manifest_of(prefix, kFullStep)->manifest);
  const ObjectRecord& object = receipts->at(0).receipt.objects.at(1);
  const auto sums = sums_of(object);
  REQUIRE(sums->crc32c.size() == 2);
  expect_notices_damage(prefix.at(object.name), [&](const std::string& bytes) {
    Verifier verifier(object.name, *sums);
    verifier.add(bytes_of(bytes));
    return verifier.finish().has_value();
  });

  std::string bytes = prefix.at(object.name);
  bytes[600] = static_cast<char>(bytes[600] ^ 1);
  Verifier verifier(object.name, *sums);
  for (const char byte : bytes) verifier.add(bytes_of({&byte, 1}));
  const auto verdict = verifier.finish();
  REQUIRE_FALSE(verdict);
  CHECK(verdict.error().code == Errc::kCorrupt);
  CHECK(verdict.error().context == object.name + ": chunk 1 (bytes 512 to " +
                                       std::to_string(bytes.size()) +
                                       ") is damaged; 1 of 2 chunks are bad");
  CHECK(verifier.bad() ==
        std::vector<BadChunk>{
            {.index = 1, .begin = 512, .end = static_cast<std::int64_t>(bytes.size())}});
}

TEST_CASE("An object of another rank, save or step is not taken for this one") {
  const Prefix prefix = sample_prefix();
  const auto manifest = manifest_of(prefix, kFullStep);
  auto receipts = *receipts_of(prefix, manifest->manifest);
  std::swap(receipts[0], receipts[1]);
  CHECK_FALSE(verify_manifest(*manifest, receipts));
  std::swap(receipts[0], receipts[1]);
  CHECK_FALSE(verify_manifest(*manifest, std::span(receipts).first(1)));
  const auto other = *receipts_of(prefix, manifest_of(prefix, kDeltaStep)->manifest);
  CHECK_FALSE(verify_manifest(*manifest, other));
  CHECK(verify_manifest(*manifest, receipts));

  const std::string text = prefix.at(manifest_name(kFullStep));
  const auto moved = read_manifest(manifest_name(kFullStep + 1), text);
  REQUIRE_FALSE(moved);
  CHECK(moved.error().context ==
        "manifest \"manifests/00000000000000000101.jsonl\": its content is that of "
        "manifests/00000000000000000100.jsonl");
}

}  // namespace
}  // namespace amdahl::checkpoint::test
