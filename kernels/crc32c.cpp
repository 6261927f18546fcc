#include "kernels/crc32c.hpp"

#include <array>

namespace amdahl::kernels {
namespace {

// Polynomials over one bit, modulo that of CRC32C; the highest bit of the word is x^0.
constexpr std::uint32_t kPolynomial = 0x82F63B78;
constexpr std::uint32_t kOne = 0x80000000;

constexpr std::uint32_t times_x(std::uint32_t a) {
  return (a >> 1) ^ ((a & 1) != 0 ? kPolynomial : 0);
}

constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = kOne; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = times_x(b);
  }
  return product;
}

// x^(8 * 2^k), for k of every bit of a size.
constexpr std::array<std::uint32_t, 64> kBytePowers = [] {
  std::array<std::uint32_t, 64> powers{};
  powers[0] = kOne >> 8;
  for (std::size_t k = 1; k < powers.size(); ++k)
    powers[k] = multiply(powers[k - 1], powers[k - 1]);
  return powers;
}();

}  // namespace

std::uint32_t crc32c_combine(std::uint32_t first, std::uint32_t second,
                             std::uint64_t second_bytes) {
  std::uint32_t shifted = first;
  for (std::size_t k = 0; second_bytes != 0; ++k, second_bytes >>= 1)
    if ((second_bytes & 1) != 0) shifted = multiply(shifted, kBytePowers[k]);
  return shifted ^ second;
}

}  // namespace amdahl::kernels
