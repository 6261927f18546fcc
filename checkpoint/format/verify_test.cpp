#include "checkpoint/format/verify.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "checkpoint/format/test_sample.hpp"

namespace amdahl::checkpoint::test {
namespace {

struct Step {
  Prefix prefix = sample_prefix();
  ReadManifest manifest = {};
  std::vector<ReadReceipt> receipts = {};

  explicit Step(std::int64_t step)
      : manifest(*manifest_of(prefix, step)), receipts(*receipts_of(prefix, manifest.manifest)) {}

  // What the coordinator says when rank 0 has written this instead.
  std::string verdict_of(const Receipt& receipt) {
    receipts[0] = finish(prefix, receipt);
    refer_to(receipts, manifest.manifest);
    const auto verified = verify_manifest(manifest, receipts);
    return verified ? "fine" : verified.error().context;
  }
};

TEST_CASE("A state that names a tensor nobody has is refused") {
  Step step(kFullStep);
  Receipt receipt = step.receipts[0].receipt;
  CHECK(step.verdict_of(receipt) == "fine");
  receipt.state["extra"] = {{"$tensor", "gone"}};
  CHECK(step.verdict_of(receipt) == "manifest of step 100: state of rank 0: no tensor \"gone\"");
}

TEST_CASE("A tensor of which a rank has lost its part is refused") {
  Step step(kFullStep);
  Receipt receipt = step.receipts[0].receipt;
  for (TensorRecord& tensor : receipt.tensors)
    if (!tensor.offset.empty()) tensor.offset = {24, 0};
  CHECK(step.verdict_of(receipt) ==
        "manifest of step 100: tensor \"model.embed.weight\": its 2 shards overlap within the 256 "
        "elements of the whole");
}

TEST_CASE("A receipt of another world is refused") {
  Step step(kFullStep);
  Receipt receipt = step.receipts[0].receipt;
  receipt.world_size = 3;
  CHECK(step.verdict_of(receipt) == "manifest of step 100: receipt of rank 0: of rank 0 of 3");
  receipt.world_size = 2;
  receipt.job_uid = "another";
  CHECK(step.verdict_of(receipt) ==
        "manifest of step 100: receipt of rank 0: of another job, step or save");
}

TEST_CASE("A manifest that counts wrong, or whose receipt was replaced, is refused") {
  Step step(kFullStep);
  ++step.manifest.manifest.bytes;
  CHECK_FALSE(verify_manifest(step.manifest, step.receipts));
  --step.manifest.manifest.bytes;
  CHECK(verify_manifest(step.manifest, step.receipts));
  step.manifest.manifest.receipts[1].sha256 = std::string(64, '0');
  const auto replaced = verify_manifest(step.manifest, step.receipts);
  REQUIRE_FALSE(replaced);
  CHECK(replaced.error().code == Errc::kCorrupt);
}

TEST_CASE("A delta without a parent, or with the wrong one, is refused") {
  Step delta(kDeltaStep);
  const Step full(kFullStep);
  CHECK(verify_parent(delta.manifest.manifest, full.manifest));
  Manifest changed = delta.manifest.manifest;
  changed.parent->chain = 2;
  CHECK(verify_parent(changed, full.manifest).error().context ==
        "manifest of step 200: a chain of 2, its parent has 0");
  changed = delta.manifest.manifest;
  changed.parent->sha256 = std::string(64, '0');
  CHECK(verify_parent(changed, full.manifest).error().context ==
        "manifest of step 200: the manifest of step 100 is not its parent");
  changed.parent.reset();
  CHECK(verify_parent(changed, full.manifest).error().context ==
        "manifest of step 200: it has no parent");
  delta.manifest.manifest.parent.reset();
  CHECK(verify_manifest(delta.manifest, delta.receipts).error().context ==
        "manifest of step 200: receipt of rank 0: tensor \"model.embed.weight\": a delta, and no "
        "parent");
}

TEST_CASE("An object whose header says something else than its receipt is refused") {
  const Step step(kFullStep);
  const Receipt& receipt = step.receipts[0].receipt;
  for (std::size_t i = 0; i < receipt.objects.size(); ++i) {
    const std::string& bytes = step.prefix.at(receipt.objects[i].name);
    const auto header = read_header(bytes_of(bytes), receipt.objects[i].bytes);
    REQUIRE(header);
    CHECK(check_header(receipt, i, *header));
    Header changed = *header;
    changed.tensors[0].dtype = Dtype::kI16;
    CHECK_FALSE(check_header(receipt, i, changed));
    changed = *header;
    changed.tensors.clear();
    CHECK_FALSE(check_header(receipt, i, changed));
    // A blob may hold tensors of other ranks; a data object may not.
    changed = *header;
    changed.tensors.push_back({.name = "other", .begin = changed.object_bytes});
    CHECK(check_header(receipt, i, changed).has_value() ==
          receipt.objects[i].name.starts_with("blobs/"));
  }
}

}  // namespace
}  // namespace amdahl::checkpoint::test
