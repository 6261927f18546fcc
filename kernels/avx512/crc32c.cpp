// CRC32C by folding: eight registers of 64 bytes hide the latency of the multiplier.
// Ranges that a cache may hold are summed by two units at once, see sum_pieces().
#include <immintrin.h>
#include <string.h>

#include "kernels/avx2/kernels.hpp"
#include "kernels/avx512/kernels.hpp"
#include "kernels/crc32c_folding.hpp"

namespace amdahl::kernels::avx512 {
namespace {

constexpr size_t kLane = 64;
constexpr size_t kLanes = 8;
constexpr size_t kStride = kLane * kLanes;

enum class Also { kNothing, kStore, kStream };  // what happens to the bytes besides the sum

template <Also also>
__m512i take(const uint8_t* from, uint8_t* to, size_t at) {
  const __m512i lane = _mm512_loadu_si512(from + at);
  if constexpr (also == Also::kStore) _mm512_storeu_si512(to + at, lane);
  if constexpr (also == Also::kStream)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + at), lane);
  return lane;
}

__m512i constant(uint32_t lower, uint32_t upper) {
  return _mm512_broadcast_i32x4(_mm_set_epi64x(upper, lower));
}

__m512i fold(__m512i far, __m512i by, __m512i near) {
  const __m512i lower = _mm512_clmulepi64_epi128(far, by, 0x00);
  const __m512i upper = _mm512_clmulepi64_epi128(far, by, 0x11);
  return _mm512_ternarylogic_epi64(lower, upper, near, 0x96);  // XOR of all three
}

uint32_t reduce(__m512i lane) {
  uint64_t words[8];
  _mm512_storeu_si512(words, lane);
  uint64_t crc = 0;
  for (const uint64_t word : words) crc = _mm_crc32_u64(crc, word);
  return static_cast<uint32_t>(crc);
}

// `size` is a multiple of kLane and not 0. Takes and returns the sum without its two inversions.
template <Also also>
uint32_t sum_lanes(uint32_t crc, const uint8_t* from, uint8_t* to, size_t size) {
  const __m512i by_lane = constant(fold_lower(kLane), fold_upper(kLane));
  __m512i first = take<also>(from, to, 0);
  first = _mm512_xor_si512(first, _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(crc))));
  size_t at = kLane;
  if (size >= 2 * kStride) {
    const __m512i by_stride = constant(fold_lower(kStride), fold_upper(kStride));
    __m512i sums[kLanes] = {first};
    for (size_t i = 1; i < kLanes; ++i, at += kLane) sums[i] = take<also>(from, to, at);
    for (; size - at >= kStride; at += kStride)
      for (size_t i = 0; i < kLanes; ++i)
        sums[i] = fold(sums[i], by_stride, take<also>(from, to, at + i * kLane));
    for (size_t i = 1; i < kLanes; ++i) sums[i] = fold(sums[i - 1], by_lane, sums[i]);
    first = sums[kLanes - 1];
  }
  for (; at < size; at += kLane) first = fold(first, by_lane, take<also>(from, to, at));
  return reduce(first);
}

// A piece has a part that is folded, and three that the crc32 instruction takes word by word, since
// that unit would have nothing to do. On Zen 4 this is an eighth faster in a cache, and a tenth
// slower from memory: four places are read at once and the processor does not see them as one
// range.
constexpr size_t kRounds = 32;
constexpr size_t kFoldLanes = 3;    // of a round
constexpr size_t kStreamWords = 2;  // of a round, in each stream
constexpr size_t kFoldBytes = kRounds * kFoldLanes * kLane;
constexpr size_t kStreamBytes = kRounds * kStreamWords * 8;
constexpr size_t kPieceBytes = kFoldBytes + 3 * kStreamBytes;
constexpr size_t kPiecesBytesMax = 1U << 20;  // larger ranges come from memory

uint64_t word_at(const uint8_t* data) {
  uint64_t word = 0;
  memcpy(&word, data, sizeof word);
  return word;
}

// A sum times x^N; the factor is x^(N - 33), as for the folding.
uint32_t moved(uint64_t crc, uint32_t factor) {
  const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(crc)),
                                               _mm_cvtsi64_si128(factor), 0);
  return static_cast<uint32_t>(_mm_crc32_u64(0, static_cast<uint64_t>(_mm_cvtsi128_si64(product))));
}

// The sum of a piece that starts from zero.
uint32_t sum_piece(const uint8_t* data) {
  const __m512i by_round = constant(fold_lower(kFoldLanes * kLane), fold_upper(kFoldLanes * kLane));
  const __m512i by_lane = constant(fold_lower(kLane), fold_upper(kLane));
  __m512i sums[kFoldLanes] = {};
  uint64_t streams[3] = {};
  for (size_t round = 0; round < kRounds; ++round) {
    const uint8_t* folded = data + round * kFoldLanes * kLane;
    const uint8_t* words = data + kFoldBytes + round * kStreamWords * 8;
    for (size_t ahead = 0; ahead < kPieceBytes / kRounds; ahead += 64)
      __builtin_prefetch(data + kPieceBytes * 3 / 2 + round * (kPieceBytes / kRounds) + ahead);
    for (size_t i = 0; i < kFoldLanes; ++i)
      sums[i] = fold(sums[i], by_round, _mm512_loadu_si512(folded + i * kLane));
    for (size_t i = 0; i < kStreamWords; ++i)
      for (size_t s = 0; s < 3; ++s)
        streams[s] = _mm_crc32_u64(streams[s], word_at(words + s * kStreamBytes + 8 * i));
  }
  for (size_t i = 1; i < kFoldLanes; ++i) sums[i] = fold(sums[i - 1], by_lane, sums[i]);
  return moved(reduce(sums[kFoldLanes - 1]), x_to_the(8 * 3 * kStreamBytes - 33)) ^
         moved(streams[0], x_to_the(8 * 2 * kStreamBytes - 33)) ^
         moved(streams[1], x_to_the(8 * kStreamBytes - 33)) ^ static_cast<uint32_t>(streams[2]);
}

// `size` is a multiple of kPieceBytes. Takes and returns the sum without its two inversions.
uint32_t sum_pieces(uint32_t crc, const uint8_t* data, size_t size) {
  for (size_t at = 0; at < size; at += kPieceBytes)
    crc = moved(crc, x_to_the(8 * kPieceBytes - 33)) ^ sum_piece(data + at);
  return crc;
}

}  // namespace

uint32_t crc32c(uint32_t so_far, const uint8_t* data, size_t size) {
  if (size >= kPieceBytes && size <= kPiecesBytesMax) {
    const size_t pieces = size / kPieceBytes * kPieceBytes;
    so_far = ~sum_pieces(~so_far, data, pieces);
    data += pieces;
    size -= pieces;
  }
  const size_t whole = size / kLane * kLane;
  if (whole != 0) so_far = ~sum_lanes<Also::kNothing>(~so_far, data, nullptr, whole);
  return avx2::crc32c(so_far, data + whole, size - whole);
}

uint32_t copy_crc32c(uint32_t so_far, uint8_t* to, const uint8_t* from, size_t size) {
  const size_t whole = size / kLane * kLane;
  if (whole != 0) so_far = ~sum_lanes<Also::kStore>(~so_far, from, to, whole);
  return avx2::copy_crc32c(so_far, to + whole, from + whole, size - whole);
}

uint32_t stream_crc32c(uint32_t so_far, uint8_t* to, const uint8_t* from, size_t size) {
  const size_t unaligned = (kLane - reinterpret_cast<uintptr_t>(to) % kLane) % kLane;
  const size_t head = unaligned < size ? unaligned : size;
  const size_t whole = (size - head) / kLane * kLane;
  so_far = avx2::copy_crc32c(so_far, to, from, head);
  if (whole != 0) so_far = ~sum_lanes<Also::kStream>(~so_far, from + head, to + head, whole);
  _mm_sfence();
  const size_t done = head + whole;
  return avx2::copy_crc32c(so_far, to + done, from + done, size - done);
}

}  // namespace amdahl::kernels::avx512
