// CRC32C by the crc32 instruction, in three streams that hide its latency. On Zen 4 nearly twice as
// fast as folding registers of 16 bytes.
#include <immintrin.h>
#include <string.h>

#include "kernels/avx2/kernels.hpp"
#include "kernels/crc32c_folding.hpp"

namespace amdahl::kernels::avx2 {
namespace {

// Short, so that the processor sees the three places it reads as one range.
constexpr size_t kStreamBytes = 256;
constexpr size_t kPieceBytes = 3 * kStreamBytes;
constexpr size_t kVector = 32;

enum class Also { kNothing, kStore, kStream };  // what happens to the bytes besides the sum

uint64_t word_at(const uint8_t* data) {
  uint64_t word = 0;
  memcpy(&word, data, sizeof word);
  return word;
}

// A sum times x^N; the factor is x^(N - 33), see crc32c_folding.hpp.
uint32_t moved(uint64_t crc, uint32_t factor) {
  const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(crc)),
                                               _mm_cvtsi64_si128(factor), 0);
  return static_cast<uint32_t>(_mm_crc32_u64(0, static_cast<uint64_t>(_mm_cvtsi128_si64(product))));
}

uint32_t sum_piece(uint32_t crc, const uint8_t* data) {
  uint64_t first = 0;
  uint64_t second = 0;
  uint64_t third = 0;
  for (size_t at = 0; at < kStreamBytes; at += 8) {
    first = _mm_crc32_u64(first, word_at(data + at));
    second = _mm_crc32_u64(second, word_at(data + kStreamBytes + at));
    third = _mm_crc32_u64(third, word_at(data + 2 * kStreamBytes + at));
  }
  return moved(crc, x_to_the(8 * kPieceBytes - 33)) ^
         moved(first, x_to_the(8 * 2 * kStreamBytes - 33)) ^
         moved(second, x_to_the(8 * kStreamBytes - 33)) ^ static_cast<uint32_t>(third);
}

template <Also also>
void copy_piece(uint8_t* to, const uint8_t* from) {
  for (size_t at = 0; at < kPieceBytes; at += kVector) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at));
    __m256i* place = reinterpret_cast<__m256i*>(to + at);
    if constexpr (also == Also::kStore) _mm256_storeu_si256(place, bytes);
    if constexpr (also == Also::kStream) _mm256_stream_si256(place, bytes);
  }
}

// Takes and returns the sum without its two inversions, as everything in this namespace does.
template <Also also>
uint32_t sum_pieces(uint32_t crc, uint8_t* to, const uint8_t* from, size_t size) {
  for (size_t at = 0; at < size; at += kPieceBytes) {
    crc = sum_piece(crc, from + at);
    if constexpr (also != Also::kNothing) copy_piece<also>(to + at, from + at);
  }
  return crc;
}

uint32_t sum_rest(uint32_t crc, const uint8_t* data, size_t size) {
  size_t at = 0;
  for (; at + 8 <= size; at += 8)
    crc = static_cast<uint32_t>(_mm_crc32_u64(crc, word_at(data + at)));
  for (; at < size; ++at) crc = _mm_crc32_u8(crc, data[at]);
  return crc;
}

uint32_t copy_rest(uint32_t crc, uint8_t* to, const uint8_t* from, size_t size) {
  if (size != 0) memcpy(to, from, size);
  return sum_rest(crc, from, size);
}

}  // namespace

uint32_t crc32c(uint32_t so_far, const uint8_t* data, size_t size) {
  const size_t pieces = size / kPieceBytes * kPieceBytes;
  const uint32_t crc = sum_pieces<Also::kNothing>(~so_far, nullptr, data, pieces);
  return ~sum_rest(crc, data + pieces, size - pieces);
}

uint32_t copy_crc32c(uint32_t so_far, uint8_t* to, const uint8_t* from, size_t size) {
  const size_t pieces = size / kPieceBytes * kPieceBytes;
  const uint32_t crc = sum_pieces<Also::kStore>(~so_far, to, from, pieces);
  return ~copy_rest(crc, to + pieces, from + pieces, size - pieces);
}

uint32_t stream_crc32c(uint32_t so_far, uint8_t* to, const uint8_t* from, size_t size) {
  const size_t unaligned = (kVector - reinterpret_cast<uintptr_t>(to) % kVector) % kVector;
  const size_t head = unaligned < size ? unaligned : size;
  const size_t pieces = (size - head) / kPieceBytes * kPieceBytes;
  uint32_t crc = copy_rest(~so_far, to, from, head);
  crc = sum_pieces<Also::kStream>(crc, to + head, from + head, pieces);
  _mm_sfence();
  const size_t done = head + pieces;
  return ~copy_rest(crc, to + done, from + done, size - done);
}

}  // namespace amdahl::kernels::avx2
