// The framing of data objects, which is that of safetensors files:
//
//   u64 length (little-endian) | JSON header, padded with spaces | tensors, one after another
//
// A file with the suffix .safetensors is one. In a file with the suffix .amdahl some tensor is
// encoded, and its dtype reads "BF16/xor": a name that no reader of safetensors knows, so that none
// takes it for plain numbers. Plain values; thread any. Failure: Errc::kCorrupt, kInvalid or
// kTooLarge, with the tensor's name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.hpp"
#include "checkpoint/format/digest.hpp"
#include "checkpoint/format/dtype.hpp"
#include "checkpoint/format/shape.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kHeaderLengthBytes = 8;
inline constexpr std::size_t kHeaderBytesMax = std::size_t{32} << 20U;  // of the JSON
inline constexpr std::size_t kHeaderAlignment = 64;  // of the first tensor, as we write it
inline constexpr std::size_t kTensorsMax = 262'144;  // of one object, of one receipt
inline constexpr std::size_t kTensorNameMax = 512;   // bytes
inline constexpr std::size_t kMetadataMax = 64;
inline constexpr std::string_view kMetadataKey = "__metadata__";

struct HeaderTensor {
  std::string name = {};
  Dtype dtype = Dtype::kF32;
  Encoding encoding = Encoding::kPlain;
  Shape shape = {};
  std::int64_t begin = 0;  // in the object
  std::int64_t end = 0;
  bool operator==(const HeaderTensor&) const = default;
};

// Tensors without elements share a place; their names tell them apart.
inline bool by_place(const HeaderTensor& a, const HeaderTensor& b) {
  return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
}

struct Header {
  std::vector<HeaderTensor> tensors = {};  // in the order of their bytes
  std::map<std::string, std::string> metadata = {};
  std::int64_t object_bytes = 0;
  bool operator==(const Header&) const = default;
};

// What a writer knows of a tensor before it has a place. `stored_bytes` counts for encoded ones
// only.
struct TensorToStore {
  std::string name = {};
  Dtype dtype = Dtype::kF32;
  Encoding encoding = Encoding::kPlain;
  Shape shape = {};
  std::int64_t stored_bytes = 0;
};
struct Layout {
  Header header = {};
  std::string bytes = {};  // of the object, up to the first tensor
};
// Gives every tensor its place: larger elements first, so that each is aligned to its own, then by
// name. The same tensors give the same bytes.
Result<Layout> lay_out(const std::vector<TensorToStore>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

// How many bytes from the start of an object read_header() needs, from its first eight.
Result<std::size_t> header_bytes(Bytes first_eight, std::int64_t object_bytes);
Result<Header> read_header(Bytes from_start, std::int64_t object_bytes);

// Whether `stored` bytes can hold a tensor; names what is wrong.
Result<void> check_stored_bytes(const HeaderTensor& tensor);
bool is_plain(const Header& header);  // such a file is a safetensors file

}  // namespace amdahl::checkpoint
