// For libamdahl-checkpoint.so on images whose C library is older than the one it was built with.
//
// The C++ library that is linked into it asks for arc4random, which glibc has since 2.36; images
// with Ubuntu 22.04 have 2.35. This one is seen inside of the library only.
#include <sys/random.h>

#include <cstdint>

#include "base/check.hpp"

extern "C" std::uint32_t arc4random() noexcept {  // NOLINT(readability-identifier-naming)
  std::uint32_t bits = 0;
  AMDAHL_CHECK(::getrandom(&bits, sizeof(bits), 0) == static_cast<ssize_t>(sizeof(bits)));
  return bits;
}
