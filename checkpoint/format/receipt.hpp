// A receipt: what one rank has durably written in one try to save. It is created after all its
// objects are durable, and before the manifest that names it.
//
// Plain values; thread any. Failure: Errc::kCorrupt, kInvalid or kTooLarge; the text names the
// receipt and the field.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "base/result.hpp"
#include "checkpoint/format/chunks.hpp"
#include "checkpoint/format/dtype.hpp"
#include "checkpoint/format/header.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/format/owner.hpp"
#include "checkpoint/format/shape.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kReceiptBytesMax = std::size_t{32} << 20U;
inline constexpr std::uint32_t kObjectsMax = 65'536;  // of one receipt

struct ObjectRecord {
  std::string name = {};
  std::int64_t bytes = 0;
  std::int64_t chunk_bytes = kChunkBytesDefault;
  std::string crc32c = {};  // base64 of one u32 a chunk; sums_of() decodes
  std::string sha256 = {};  // base64 of 32 bytes a chunk, or nothing
  std::string root = {};
  bool operator==(const ObjectRecord&) const = default;
};
template <class V>
constexpr void fields(V& v, ObjectRecord& object) {
  v.required(
      "name", object.name,
      {.doc = "A data object of this save and rank, or a blob.", .length_max = kNameBytesMax});
  v.required("bytes", object.bytes, {.doc = "Its size.", .min = 10, .max = kObjectBytesMax});
  v.required("chunkBytes", object.chunk_bytes,
             {.doc = "Size of its chunks but the last: a power of two.",
              .min = kChunkBytesMin,
              .max = kChunkBytesMax});
  v.required("crc32c", object.crc32c,
             {.doc = "Base64 of the CRC32C of each chunk, 4 bytes little-endian each."});
  v.optional("sha256", object.sha256,
             {.doc = "Base64 of the SHA-256 of each chunk, 32 bytes each; a signed manifest needs "
                     "it."});
  v.required("root", object.root,
             {.doc = "Root of the object over those, hexadecimal.", .length_max = 64});
}

struct TensorRecord {
  std::string name = {};
  Dtype dtype = Dtype::kF32;
  Shape shape = {};
  Shape global_shape = {};  // empty: the tensor is whole
  Shape offset = {};        // empty: zeros
  std::int32_t object = 0;  // index in the receipt's objects
  std::int64_t begin = 0;   // in the object
  std::int64_t end = 0;
  Encoding encoding = Encoding::kPlain;
  bool operator==(const TensorRecord&) const = default;
};
template <class V>
constexpr void fields(V& v, TensorRecord& tensor) {
  v.required("name", tensor.name,
             {.doc = "The same on all ranks that hold a part of it.",
              .length_min = 1,
              .length_max = kTensorNameMax});
  v.required("dtype", tensor.dtype, {.doc = "Type of its elements."});
  v.required("shape", tensor.shape,
             {.doc = "Of the part that is here.",
              .min = 0,
              .max = kElementsMax,
              .items_max = kDimensionsMax});
  v.optional("globalShape", tensor.global_shape,
             {.doc = "Of the whole tensor; absent when this is all of it.",
              .min = 0,
              .max = kElementsMax,
              .items_max = kDimensionsMax});
  v.optional("offset", tensor.offset,
             {.doc = "Where this part begins in the whole; with globalShape only.",
              .min = 0,
              .max = kElementsMax,
              .items_max = kDimensionsMax});
  v.required("object", tensor.object,
             {.doc = "Index in `objects`.", .min = 0, .max = kObjectsMax - 1});
  v.required("begin", tensor.begin,
             {.doc = "Its first byte in the object.", .min = 10, .max = kObjectBytesMax});
  v.required("end", tensor.end,
             {.doc = "The byte after its last.", .min = 10, .max = kObjectBytesMax});
  v.optional("encoding", tensor.encoding, {.doc = "How its bytes are stored; absent: `plain`."});
}

struct Receipt {
  std::int32_t format = kFormatVersion;
  std::string job_uid = {};
  std::int64_t step = 0;
  std::string save_id = {};
  std::int32_t rank = 0;
  std::int32_t world_size = 1;
  std::vector<ObjectRecord> objects = {};  // by name
  std::vector<TensorRecord> tensors = {};  // by object, then name
  nlohmann::json state = nullptr;          // state.hpp
  std::string root = {};
  bool operator==(const Receipt&) const = default;
};
template <class V>
constexpr void fields(V& v, Receipt& receipt) {
  v.required("format", receipt.format,
             {.doc = "Version of this format.", .min = kFormatVersion, .max = kFormatVersion});
  v.required("jobUid", receipt.job_uid,
             {.doc = "UID of the job.", .length_min = 1, .length_max = kUidMax});
  v.required("step", receipt.step, {.doc = "Step that was saved.", .min = 0, .max = kStepMax});
  v.required("saveId", receipt.save_id,
             {.doc = "16 hexadecimal digits of this try to save.", .length_max = kSaveIdDigits});
  v.required("rank", receipt.rank, {.doc = "Who wrote it.", .min = 0, .max = kRanksMax - 1});
  v.required("worldSize", receipt.world_size,
             {.doc = "How many ranks save.", .min = 1, .max = kRanksMax});
  v.required("objects", receipt.objects,
             {.doc = "What holds the tensors, by name.", .items_max = kObjectsMax});
  v.required("tensors", receipt.tensors,
             {.doc = "The tensors of this rank, by object, then name.", .items_max = kTensorsMax});
  v.optional("state", receipt.state, {.doc = "What is no tensor: see State.", .any_type = true});
  v.required("root", receipt.root,
             {.doc = "Root over the objects, hexadecimal.", .length_max = 64});
}

// Root of a rank: SHA-256( "amdahl-rank-1\n"  u64 objects  (32 bytes: root) for each object ).
Sha256Digest rank_root(std::span<const Sha256Digest> object_roots);
ObjectRecord object_record(std::string name, const ChunkSums& sums);
Result<ChunkSums> sums_of(const ObjectRecord& object);

std::string receipt_name(const Receipt& receipt);
// Sorts objects and tensors, renumbers, and fills in the root; the rest is the caller's.
void complete(Receipt& receipt);
// Everything that can be said of a receipt without another object.
Result<void> check_receipt(const Receipt& receipt);
// Whether an object's own header says the same of its tensors.
Result<void> check_header(const Receipt& receipt, std::size_t object, const Header& header);

struct ReadReceipt {
  Receipt receipt = {};
  std::int64_t bytes = 0;   // of its text
  std::string sha256 = {};  // of its text, hexadecimal
};
std::string write_receipt(const Receipt& receipt);
// Refuses a receipt that is not the one its name says.
Result<ReadReceipt> read_receipt(std::string_view name, std::string_view text);

}  // namespace amdahl::checkpoint
