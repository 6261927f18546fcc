// Tensors stored in planes, from a store that lies: two bytes say how many values, the rest is what
// was stored. What decodes is the same again after it was encoded.
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "checkpoint/engine/planes_codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace checkpoint = amdahl::checkpoint;
  if (size < 2) return 0;
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::size_t count = data[0] | static_cast<std::size_t>(data[1]) << 8U;
  std::vector<std::byte> bf16(2 * count);
  if (!checkpoint::decode_planes(bytes.subspan(2), bf16)) return 0;
  const auto stored = checkpoint::encode_planes(bf16);
  if (!stored) return 0;
  std::vector<std::byte> again(bf16.size());
  AMDAHL_CHECK(checkpoint::decode_planes(checkpoint::bytes_of(*stored), again).has_value());
  AMDAHL_CHECK(again == bf16);
  return 0;
}
