// Random checkpoints: written, read back, verified; and one thing changed is noticed.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/rng.hpp"
#include "checkpoint/format/test_sample.hpp"

namespace amdahl::checkpoint::test {
namespace {

struct Saved {
  Prefix prefix = {};
  std::vector<ReadReceipt> receipts = {};
  Manifest manifest = {};
};

// Rows of one tensor, dealt out to ranks in order; some get none.
std::vector<std::int64_t> deal(std::int64_t rows, std::size_t ranks, Rng& rng) {
  std::vector<std::int64_t> ends = {0};
  for (std::size_t i = 1; i < ranks; ++i)
    ends.push_back(static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(rows) + 1)));
  ends.push_back(rows);
  std::ranges::sort(ends);
  return ends;
}

Tensor part_of(const std::string& name, const Shape& whole, std::int64_t from, std::int64_t to) {
  Tensor tensor{.what = {.name = name, .dtype = Dtype::kF16, .shape = whole}};
  tensor.what.shape[0] = to - from;
  if (tensor.what.shape != whole) {
    tensor.global_shape = whole;
    tensor.offset = {from, 0};
  }
  const std::int64_t bytes = (to - from) * whole[1] * 2;
  tensor.bytes = counting(static_cast<std::size_t>(bytes), static_cast<int>(from));
  return tensor;
}

Saved random_checkpoint(Rng& rng) {
  const std::size_t ranks = 1 + rng.below(5);
  std::vector<std::vector<Tensor>> of_rank(ranks);
  for (std::uint64_t i = rng.below(6); i > 0; --i) {
    const Shape whole = {static_cast<std::int64_t>(1 + rng.below(40)),
                         static_cast<std::int64_t>(1 + rng.below(9))};
    const auto ends = deal(whole[0], ranks, rng);
    for (std::size_t rank = 0; rank < ranks; ++rank)
      if (ends[rank] < ends[rank + 1])
        of_rank[rank].push_back(
            part_of("t" + std::to_string(i), whole, ends[rank], ends[rank + 1]));
  }
  Saved saved;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    Receipt receipt{.job_uid = "uid",
                    .step = static_cast<std::int64_t>(rng.below(1000)),
                    .save_id = "0123456789abcdef",
                    .rank = static_cast<std::int32_t>(rank),
                    .world_size = static_cast<std::int32_t>(ranks)};
    receipt.step = rank == 0 ? receipt.step : saved.receipts[0].receipt.step;
    std::int32_t part = 0;
    for (const Tensor& tensor : of_rank[rank])
      store(saved.prefix, receipt,
            {.kind = ObjectKind::kData,
             .step = receipt.step,
             .save_id = receipt.save_id,
             .rank = receipt.rank,
             .part = part++},
            {tensor});
    saved.receipts.push_back(finish(saved.prefix, std::move(receipt)));
  }
  saved.manifest.job_uid = "uid";
  saved.manifest.step = saved.receipts[0].receipt.step;
  saved.manifest.save_id = "0123456789abcdef";
  refer_to(saved.receipts, saved.manifest);
  saved.prefix[manifest_name(saved.manifest.step)] = write_manifest(saved.manifest);
  return saved;
}

TEST_CASE("Random checkpoints are read as they were written, and verify") {
  Rng rng(23);
  for (int round = 0; round < 60; ++round) {
    const Saved saved = random_checkpoint(rng);
    const auto verified = verify_step(saved.prefix, saved.manifest.step);
    INFO("round " << round << ": " << (verified ? "" : verified.error().context));
    REQUIRE(verified);
    CHECK(manifest_of(saved.prefix, saved.manifest.step)->manifest == saved.manifest);
    for (const ReadReceipt& read : saved.receipts) {
      const std::string name = receipt_name(read.receipt);
      CHECK(read_receipt(name, saved.prefix.at(name))->receipt == read.receipt);
    }
  }
}

TEST_CASE("A manifest over receipts that miss, double or change a part is refused") {
  Rng rng(29);
  int tried = 0;
  for (int round = 0; round < 60; ++round) {
    Saved saved = random_checkpoint(rng);
    const std::size_t rank = rng.below(saved.receipts.size());
    Receipt receipt = saved.receipts[rank].receipt;
    if (receipt.tensors.empty()) continue;
    ++tried;
    TensorRecord& tensor = receipt.tensors[rng.below(receipt.tensors.size())];
    if (tensor.global_shape.empty()) {  // was whole, now says that there is more of it
      tensor.global_shape = {tensor.shape[0] + 1, tensor.shape[1]};
      tensor.offset = {0, 0};
    } else if (rng.chance(0.5)) {
      ++tensor.global_shape[0];
    } else {
      tensor.dtype = Dtype::kBf16;  // as wide as the other parts, and another thing
    }
    saved.receipts[rank] = finish(saved.prefix, std::move(receipt));
    refer_to(saved.receipts, saved.manifest);
    const ReadManifest manifest{.manifest = saved.manifest};
    INFO("round " << round);
    CHECK_FALSE(verify_manifest(manifest, saved.receipts));
  }
  CHECK(tried > 20);
}

TEST_CASE("Equal tensors have equal roots, whatever the save was called") {
  Rng one(31);
  Rng two(31);
  const Saved first = random_checkpoint(one);
  Saved second = random_checkpoint(two);
  for (ReadReceipt& read : second.receipts) {
    Receipt receipt = read.receipt;
    receipt.save_id = "fedcba9876543210";
    for (ObjectRecord& object : receipt.objects) {
      auto name = *parse_name(object.name);
      name.save_id = receipt.save_id;
      object.name = write_name(name);
    }
    read = finish(second.prefix, std::move(receipt));
  }
  refer_to(second.receipts, second.manifest);
  CHECK(second.manifest.root == first.manifest.root);
  CHECK(second.manifest.receipts != first.manifest.receipts);
}

}  // namespace
}  // namespace amdahl::checkpoint::test
