// The header of a data object: what is accepted covers the object without hole or overlap, and laid
// out again it is the same header.
#include <cstdint>

#include "base/check.hpp"
#include "checkpoint/format/header.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace checkpoint = amdahl::checkpoint;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto header = checkpoint::read_header(bytes, static_cast<std::int64_t>(size));
  if (!header) return 0;
  std::vector<checkpoint::TensorToStore> tensors;
  std::int64_t at = header->object_bytes;
  for (const auto& tensor : header->tensors) {
    at = std::min(at, tensor.begin);
    tensors.push_back({.name = tensor.name,
                       .dtype = tensor.dtype,
                       .encoding = tensor.encoding,
                       .shape = tensor.shape,
                       .stored_bytes = tensor.end - tensor.begin});
  }
  for (const auto& tensor : header->tensors) {
    AMDAHL_CHECK(tensor.begin == at);
    at = tensor.end;
  }
  AMDAHL_CHECK(at == static_cast<std::int64_t>(size));
  const auto layout = checkpoint::lay_out(tensors, header->metadata);
  AMDAHL_CHECK(layout.has_value());
  AMDAHL_CHECK(layout->header.tensors.size() == header->tensors.size());
  return 0;
}
