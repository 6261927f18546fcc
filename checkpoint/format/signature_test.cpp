#include "checkpoint/format/signature.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "checkpoint/format/document.hpp"
#include "checkpoint/format/test_sample.hpp"

namespace amdahl::checkpoint::test {
namespace {

TEST_CASE("Keys are those of RFC 8032") {
  const auto seed =
      digest_of_hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
  const auto key = public_key_of(*seed);
  REQUIRE(key);
  CHECK(hex(*key) == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
}

TEST_CASE("A signature holds for one key, job and image") {
  const Prefix prefix = sample_prefix();
  const std::string& text = prefix.at(manifest_name(kDeltaStep));
  const auto manifest = manifest_of(prefix, kDeltaStep);
  const PublicKey ours = *public_key_of(sample_key());
  const PublicKey other = *public_key_of(PrivateKey{});
  const std::vector both = {other, ours};
  const auto why = [&](const ExpectedSigner& expected) {
    const auto checked = check_signature(text, *manifest, expected);
    if (checked) return std::string("fine");
    CHECK(checked.error().code == Errc::kForbidden);
    return checked.error().context;
  };
  CHECK(why({.keys = both}) == "fine");
  CHECK(why({.keys = both,
             .job_uid = manifest->manifest.job_uid,
             .image_digest = manifest->manifest.image_digest}) == "fine");
  CHECK(why({}).starts_with("manifest of step 200: signed by a key that is not trusted: "));
  CHECK(why({.keys = {&other, 1}}).find("not trusted") != std::string::npos);
  CHECK(why({.keys = both, .job_uid = "x"}).find("another job") != std::string::npos);
  CHECK(why({.keys = both, .image_digest = "x"}).find("another image") != std::string::npos);
}

TEST_CASE("A signature of another manifest does not fit, and none is not signed") {
  Prefix prefix = sample_prefix();
  const auto manifest = manifest_of(prefix, kDeltaStep);
  const PublicKey key = *public_key_of(sample_key());
  const ExpectedSigner expected{.keys = {&key, 1}};
  Manifest forged = manifest->manifest;
  forged.metrics["loss"] = "0.0";
  const std::string text = seal_document(write_body(forged), manifest->signature);
  const auto read = read_manifest(manifest_name(kDeltaStep), text);
  REQUIRE(read);  // nothing is wrong with it but the signature
  CHECK(check_signature(text, *read, expected).error().context ==
        "manifest of step 200: its signature is wrong");
  const std::string bare = write_manifest(manifest->manifest);
  CHECK(check_signature(bare, *manifest, expected).error().context ==
        "manifest of step 200: not signed");
}

TEST_CASE("A signed manifest needs an image digest, and SHA-256 of every chunk") {
  const Prefix prefix = sample_prefix();
  const auto full = manifest_of(prefix, kFullStep);
  CHECK_FALSE(write_signed_manifest(full->manifest, sample_key()));
  ReadManifest claimed = *full;
  claimed.signature = Signature{};
  const auto receipts = receipts_of(prefix, full->manifest);
  const auto verified = verify_manifest(claimed, *receipts);
  REQUIRE_FALSE(verified);
  CHECK(verified.error().context.find("no SHA-256, so the signature does not bind it") !=
        std::string::npos);
}

}  // namespace
}  // namespace amdahl::checkpoint::test
