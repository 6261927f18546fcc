// The files of testdata/golden are what the library writes today and what it must read for ever. A
// change of these bytes is a change of the format; AMDAHL_UPDATE_GOLDEN=1 writes them anew.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "checkpoint/format/history.hpp"
#include "checkpoint/format/owner.hpp"
#include "checkpoint/format/planes.hpp"
#include "checkpoint/format/test_sample.hpp"
#include "kernels/dispatch.hpp"

namespace amdahl::checkpoint::test {
namespace {

const std::filesystem::path kFolder = "checkpoint/format/testdata/golden";

Prefix golden_files() {
  Prefix prefix;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFolder))
    if (entry.is_regular_file())
      prefix[entry.path().lexically_relative(kFolder).string()] = file_text(entry.path().string());
  return prefix;
}

void update_golden(const Prefix& prefix) {
  std::filesystem::remove_all(kFolder);
  for (const auto& [name, bytes] : prefix) {
    std::filesystem::create_directories((kFolder / name).parent_path());
    std::ofstream(kFolder / name, std::ios::binary) << bytes;
  }
}

TEST_CASE("Golden files are what the library writes") {
  const Prefix written = sample_prefix();
  if (std::getenv("AMDAHL_UPDATE_GOLDEN") != nullptr) update_golden(written);
  const Prefix files = golden_files();
  REQUIRE(files.size() == written.size());
  for (const auto& [name, bytes] : written) {
    INFO(name);
    REQUIRE(files.contains(name));
    CHECK(files.at(name) == bytes);
  }
}

TEST_CASE("Golden files are read, verified and written back as they are") {
  const Prefix files = golden_files();
  for (const std::int64_t step : {kFullStep, kDeltaStep}) {
    const auto verified = verify_step(files, step);
    INFO((verified ? "" : verified.error().context));
    REQUIRE(verified);
    const auto manifest = manifest_of(files, step);
    for (const ReadReceipt& read : *receipts_of(files, manifest->manifest))
      CHECK(write_receipt(read.receipt) == files.at(receipt_name(read.receipt)));
  }
  const auto full = manifest_of(files, kFullStep);
  CHECK(write_manifest(full->manifest) == files.at(manifest_name(kFullStep)));
  const auto delta = manifest_of(files, kDeltaStep);
  const auto again = write_signed_manifest(delta->manifest, sample_key());
  REQUIRE(again);
  CHECK(*again == files.at(manifest_name(kDeltaStep)));
  CHECK(write_owner(*read_owner(files.at("owner.jsonl"))) == files.at("owner.jsonl"));
}

TEST_CASE("Golden deltas stand on their parent") {
  const Prefix files = golden_files();
  const auto full = manifest_of(files, kFullStep);
  const auto delta = manifest_of(files, kDeltaStep);
  CHECK(verify_parent(delta->manifest, *full));
  CHECK_FALSE(verify_parent(full->manifest, *delta));
  const auto parents = receipts_of(files, full->manifest);
  const auto children = receipts_of(files, delta->manifest);
  CHECK(verify_bases(*children, *parents));
  const auto lost = verify_bases(*children, std::span(*parents).first(1));
  REQUIRE_FALSE(lost);
  CHECK(lost.error().context ==
        "tensor \"model.embed.weight\" of rank 1: the parent has no such part");
}

TEST_CASE("Golden planes are those of the kernels") {
  const Prefix files = golden_files();
  const auto receipts = receipts_of(files, manifest_of(files, kDeltaStep)->manifest);
  const TensorRecord& norm = receipts->at(0).receipt.tensors.at(1);
  REQUIRE(norm.encoding == Encoding::kBf16Planes);
  const std::string& object = files.at(receipts->at(0).receipt.objects.at(0).name);
  const Bytes stored = bytes_of(object).subspan(static_cast<std::size_t>(norm.begin),
                                                static_cast<std::size_t>(norm.end - norm.begin));
  const auto head = read_planes_head(stored, 5);
  REQUIRE(head);
  const auto* at = reinterpret_cast<const std::uint8_t*>(stored.data()) + kPlanesHeadBytes;
  std::string values(10, '\0');
  const kernels::ExponentMerge merge{.sign_mantissa = at,
                                     .plane_bits = at + 5,
                                     .plane_stride = 1,
                                     .exceptions = at + 5 + head->planes,
                                     .exception_count = static_cast<std::size_t>(head->exceptions),
                                     .count = 5,
                                     .base = head->base,
                                     .planes = head->planes,
                                     .values = reinterpret_cast<std::uint8_t*>(values.data())};
  for (const kernels::Row* row : kernels::available_rows()) {
    INFO(row->name);
    CHECK(row->merge_exponents(merge) == 2);
    CHECK(values == std::string("\x80\x3f\x00\x40\x00\xbf\x00\x00\xc0\x7f", 10));
  }
}

TEST_CASE("The newest checkpoint follows from a listing, and a bad one is passed over") {
  const Prefix files = golden_files();
  std::vector<std::string> listed = {"manifests/latest", "manifests/200.jsonl", "data/x"};
  for (const auto& [name, bytes] : files) listed.push_back(name);
  CHECK(committed_steps(listed) == std::vector<std::int64_t>{kDeltaStep, kFullStep});

  std::vector<Candidate> candidates;
  candidates.push_back({.step = kFullStep, .manifest = manifest_of(files, kFullStep)});
  candidates.push_back({.step = kDeltaStep, .manifest = manifest_of(files, kDeltaStep)});
  CHECK(choose_newest(candidates).index == 1U);
  candidates[1].manifest = fail(Errc::kCorrupt, "damaged");
  const Choice choice = choose_newest(candidates);
  CHECK(choice.index == 0U);
  REQUIRE(choice.passed_over.size() == 1);
  CHECK(choice.passed_over[0].step == kDeltaStep);
  CHECK(choice.passed_over[0].why == "damaged");
  CHECK_FALSE(choose_newest({}).index);
}

}  // namespace
}  // namespace amdahl::checkpoint::test
