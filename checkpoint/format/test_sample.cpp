#include "checkpoint/format/test_sample.hpp"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "checkpoint/format/planes.hpp"
#include "checkpoint/format/state.hpp"
#include "checkpoint/format/verifier.hpp"

namespace amdahl::checkpoint::test {
namespace {

constexpr std::int64_t kSampleChunkBytes = 512;
constexpr std::string_view kJobUid = "5b0c7b5e-1f0a-4a53-9d5e-0c6b1f2a3d4e";

Receipt receipt_for(std::int64_t step, std::string_view save_id, std::int32_t rank) {
  Receipt receipt;
  receipt.job_uid = kJobUid;
  receipt.step = step;
  receipt.save_id = save_id;
  receipt.rank = rank;
  receipt.world_size = 2;
  return receipt;
}

Tensor embedding(std::int32_t rank, Encoding encoding, int first) {
  const std::int64_t rows = rank == 0 ? 40 : 24;
  const std::int64_t bytes = rows * 4 * 4;
  return {.what = {.name = "model.embed.weight",
                   .dtype = Dtype::kF32,
                   .encoding = encoding,
                   .shape = {rows, 4},
                   .stored_bytes = bytes},
          .bytes = counting(static_cast<std::size_t>(bytes), first),
          .global_shape = {64, 4},
          .offset = {rank == 0 ? 0 : 40, 0}};
}

// bf16 1.0, 2.0, -0.5, 0.0 and NaN, as they are and taken apart by hand: base 126, two planes.
Tensor norm() {
  return {.what = {.name = "model.norm.weight", .dtype = Dtype::kBf16, .shape = {5}},
          .bytes = std::string("\x80\x3f\x00\x40\x00\xbf\x00\x00\xc0\x7f", 10)};
}
Tensor norm_in_planes() {
  Tensor tensor = norm();
  tensor.what.encoding = Encoding::kBf16Planes;
  tensor.bytes = write_planes_head({.base = 126, .planes = 2, .exceptions = 2}) +
                 std::string("\x00\x00\x80\x00\x40", 5) + std::string("\x19\x1a", 2) +
                 std::string("\x00\xff", 2);
  tensor.what.stored_bytes = static_cast<std::int64_t>(tensor.bytes.size());
  return tensor;
}

Json sample_state() {
  return Json::parse(R"({"epoch": 3, "lr": {"$float": "0.001"}, "text": "l\u00e9o",
    "betas": {"$tuple": [{"$float": "0.9"}, {"$float": "0.999"}]},
    "model": {"embed.weight": {"$tensor": "model.embed.weight"}},
    "optimizer": {"$map": [[0, {"$tensor": "optimizer.step"}]]}})");
}

ReadReceipt full_rank(Prefix& prefix, std::int32_t rank) {
  Receipt receipt = receipt_for(kFullStep, "00112233445566aa", rank);
  ObjectName name{
      .kind = ObjectKind::kData, .step = receipt.step, .save_id = receipt.save_id, .rank = rank};
  if (rank == 1) {
    store(prefix, receipt, name,
          {embedding(1, Encoding::kPlain, 7),
           {.what = {.name = "optimizer.step", .dtype = Dtype::kI64},
            .bytes = std::string("\x64\0\0\0\0\0\0\0", 8)}});
    return finish(prefix, std::move(receipt));
  }
  store(prefix, receipt, name, {embedding(0, Encoding::kPlain, 0), norm()});
  store(prefix, receipt, {.kind = ObjectKind::kBlob},
        {{.what = {.name = "model.frozen.weight", .dtype = Dtype::kF16, .shape = {3, 3}},
          .bytes = counting(18)}});
  receipt.state = sample_state();
  return finish(prefix, std::move(receipt));
}

ReadReceipt delta_rank(Prefix& prefix, std::int32_t rank) {
  Receipt receipt = receipt_for(kDeltaStep, "ffeeddccbbaa9900", rank);
  ObjectName name{
      .kind = ObjectKind::kEncoded, .step = receipt.step, .save_id = receipt.save_id, .rank = rank};
  std::vector<Tensor> tensors = {embedding(rank, Encoding::kXor, 1)};
  if (rank == 0) tensors.push_back(norm_in_planes());
  store(prefix, receipt, name, tensors, ChunkDigests::kCrc32cAndSha256);
  return finish(prefix, std::move(receipt));
}

Manifest manifest_for(std::span<const ReadReceipt> receipts, int minute) {
  Manifest manifest;
  manifest.job_uid = kJobUid;
  manifest.step = receipts[0].receipt.step;
  manifest.save_id = receipts[0].receipt.save_id;
  manifest.committed_at = WallTime{std::chrono::seconds{1'790'000'000 + 60 * minute}};
  manifest.metrics = {{"loss", float_text(2.5)}, {"loss.worst", "inf"}};
  refer_to(receipts, manifest);
  return manifest;
}

}  // namespace

std::string counting(std::size_t count, int first) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i)
    bytes += static_cast<char>((first + static_cast<int>(i)) % 251);
  return bytes;
}

void store(Prefix& prefix, Receipt& receipt, ObjectName name, const std::vector<Tensor>& tensors,
           ChunkDigests digests) {
  std::vector<TensorToStore> what;
  for (const Tensor& tensor : tensors) what.push_back(tensor.what);
  const auto layout = lay_out(what);
  AMDAHL_CHECK(layout.has_value());
  std::string object = layout->bytes;
  const auto index = static_cast<std::int32_t>(receipt.objects.size());
  for (const HeaderTensor& place : layout->header.tensors) {
    const auto tensor = std::ranges::find(
        tensors, place.name, [](const Tensor& t) -> const std::string& { return t.what.name; });
    object += tensor->bytes;
    receipt.tensors.push_back({.name = place.name,
                               .dtype = place.dtype,
                               .shape = place.shape,
                               .global_shape = tensor->global_shape,
                               .offset = tensor->offset,
                               .object = index,
                               .begin = place.begin,
                               .end = place.end,
                               .encoding = place.encoding});
  }
  if (name.kind == ObjectKind::kBlob) name.sha256 = hex(sha256(object));
  ChunkSummer summer(kSampleChunkBytes, digests);
  summer.add(bytes_of(object));
  receipt.objects.push_back(object_record(write_name(name), summer.finish()));
  prefix[write_name(name)] = std::move(object);
}

ReadReceipt finish(Prefix& prefix, Receipt receipt) {
  complete(receipt);
  const std::string name = receipt_name(receipt);
  auto read = read_receipt(name, prefix[name] = write_receipt(receipt));
  if (!read) check_failed(read.error().context.c_str(), __FILE__, __LINE__);
  return *std::move(read);
}

PrivateKey sample_key() {
  PrivateKey key{};
  for (std::size_t i = 0; i < key.size(); ++i) key.at(i) = static_cast<std::byte>(i);
  return key;
}

Prefix sample_prefix() {
  Prefix prefix;
  prefix["owner.jsonl"] =
      write_owner({.job_uid = std::string(kJobUid),
                   .job = "research/llama-ft",
                   .created_at = WallTime{std::chrono::seconds{1'790'000'000}}});
  const std::vector full = {full_rank(prefix, 0), full_rank(prefix, 1)};
  const Manifest parent = manifest_for(full, 1);
  const std::string text = prefix[manifest_name(kFullStep)] = write_manifest(parent);

  const std::vector delta = {delta_rank(prefix, 0), delta_rank(prefix, 1)};
  Manifest manifest = manifest_for(delta, 2);
  manifest.parent = Parent{.step = kFullStep, .sha256 = hex(sha256(text)), .chain = 1};
  manifest.image_digest = "sha256:" + std::string(64, 'd');
  const auto sealed = write_signed_manifest(manifest, sample_key());
  AMDAHL_CHECK(sealed.has_value());
  prefix[manifest_name(kDeltaStep)] = *sealed;
  prefix["pins/00000000000000000100"] = "";
  return prefix;
}

Result<ReadManifest> manifest_of(const Prefix& prefix, std::int64_t step) {
  const std::string name = manifest_name(step);
  return read_manifest(name, prefix.at(name));
}

Result<std::vector<ReadReceipt>> receipts_of(const Prefix& prefix, const Manifest& manifest) {
  std::vector<ReadReceipt> receipts;
  for (std::size_t rank = 0; rank < manifest.receipts.size(); ++rank) {
    const std::string name = write_name({.kind = ObjectKind::kReceipt,
                                         .step = manifest.step,
                                         .save_id = manifest.save_id,
                                         .rank = static_cast<std::int32_t>(rank)});
    TRY(receipts.emplace_back(), read_receipt(name, prefix.at(name)));
  }
  return receipts;
}

Result<void> verify_step(const Prefix& prefix, std::int64_t step) {
  TRY(const ReadManifest manifest, manifest_of(prefix, step));
  TRY(const auto receipts, receipts_of(prefix, manifest.manifest));
  TRY(verify_manifest(manifest, receipts));
  for (const ReadReceipt& read : receipts) {
    for (std::size_t i = 0; i < read.receipt.objects.size(); ++i) {
      const ObjectRecord& object = read.receipt.objects[i];
      const std::string& bytes = prefix.at(object.name);
      TRY(ChunkSums sums, sums_of(object));
      Verifier verifier(object.name, std::move(sums));
      verifier.add(bytes_of(bytes));
      TRY(verifier.finish());
      TRY(const Header header, read_header(bytes_of(bytes), object.bytes));
      TRY(check_header(read.receipt, i, header));
    }
  }
  return {};
}

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  AMDAHL_CHECK(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace amdahl::checkpoint::test
