// The specification of CRC32C (Castagnoli, RFC 3720): one byte at a time, from a table.
#include <string.h>

#include "kernels/scalar/kernels.hpp"

namespace amdahl::kernels::scalar {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // the least significant bit is the highest power

struct ByteTable {
  uint32_t after[256] = {};
  consteval ByteTable() {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t crc = byte;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
      after[byte] = crc;
    }
  }
};
constexpr ByteTable kTable;

}  // namespace

uint32_t crc32c(uint32_t so_far, const uint8_t* data, size_t size) {
  uint32_t crc = ~so_far;
  for (size_t i = 0; i < size; ++i) crc = (crc >> 8) ^ kTable.after[(crc ^ data[i]) & 0xFF];
  return ~crc;
}

uint32_t copy_crc32c(uint32_t so_far, uint8_t* to, const uint8_t* from, size_t size) {
  if (size != 0) memcpy(to, from, size);
  return crc32c(so_far, from, size);
}

}  // namespace amdahl::kernels::scalar
