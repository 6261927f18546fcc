#include "kernels/tile_pipeline.hpp"

#include <algorithm>

#include "kernels/cast.hpp"
#include "kernels/crc32c.hpp"
#include "kernels/delta.hpp"

namespace amdahl::kernels {
namespace {

// Of what goes out. Small, so that the steps hardly drain what the processor fetches ahead for the
// next tile: 2 KB were half as fast again as 32 KB, and a call costs nothing beside either.
constexpr std::size_t kTileBytes = 2U << 10;

template <typename Step>
void for_each_tile(std::size_t size, Step&& step) {
  for (std::size_t at = 0; at < size; at += kTileBytes) step(at, std::min(kTileBytes, size - at));
}

}  // namespace

TileSums snapshot_delta(MutableBytes delta, Bytes fp32, Bytes previous, const Row& row) {
  expect(fp32.size() % 4 == 0 && delta.size() == fp32.size() / 2, "snapshot_delta: sizes");
  expect(previous.size() == delta.size(), "snapshot_delta: previous values of another size");
  TileSums sums;
  for_each_tile(delta.size(), [&](std::size_t at, std::size_t size) {
    const Bytes source = fp32.subspan(2 * at, 2 * size);
    const MutableBytes result = delta.subspan(at, size);
    sums.source = crc32c(source, sums.source, row);
    cast_delta(result, source, previous.subspan(at, size), row);
    sums.result = crc32c(result, sums.result, row);
  });
  return sums;
}

TileSums snapshot_cast(MutableBytes bf16, Bytes fp32, const Row& row) {
  expect(fp32.size() % 4 == 0 && bf16.size() == fp32.size() / 2, "snapshot_cast: sizes");
  TileSums sums;
  for_each_tile(bf16.size(), [&](std::size_t at, std::size_t size) {
    const Bytes source = fp32.subspan(2 * at, 2 * size);
    const MutableBytes result = bf16.subspan(at, size);
    sums.source = crc32c(source, sums.source, row);
    fp32_to_bf16(result, source, row);
    sums.result = crc32c(result, sums.result, row);
  });
  return sums;
}

TileSums restore_delta(MutableBytes bf16, Bytes delta, Bytes previous, const Row& row) {
  expect(bf16.size() == delta.size() && bf16.size() == previous.size(), "restore_delta: sizes");
  TileSums sums;
  for_each_tile(bf16.size(), [&](std::size_t at, std::size_t size) {
    const MutableBytes result = bf16.subspan(at, size);
    sums.source = crc32c(delta.subspan(at, size), sums.source, row);
    xor_delta(result, delta.subspan(at, size), previous.subspan(at, size), row);
    sums.result = crc32c(result, sums.result, row);
  });
  return sums;
}

}  // namespace amdahl::kernels
