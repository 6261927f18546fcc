// The kernels of one instruction set, as pointers: a row of the dispatch table (dispatch.hpp).
//
// Files under avx2/, avx512/ and neon/ are compiled with flags of their own and see this header, so
// it holds plain C types and nothing inline: a std template emitted there could be the copy that
// the linker keeps for everybody, and would then trap on a smaller machine.
//
// Contract of every entry: any alignment; reads and writes exactly the given ranges; ranges that
// are written overlap no other, but for xor_delta. The scalar row is the specification, and every
// other row gives the same bits. Callers use the typed functions of crc32c.hpp, cast.hpp, ...
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace amdahl::kernels {

// Values of bf16 taken apart: sign and mantissa in one byte, the exponent as a code of a few bits.
// A code is exponent - base, or all ones when that does not fit; then the exponent is an exception.
struct ExponentSplit {
  const uint8_t* values = nullptr;  // 2 * count bytes
  size_t count = 0;
  uint8_t base = 0;
  unsigned planes = 0;               // bits of a code, 1 to 7
  uint8_t* sign_mantissa = nullptr;  // count bytes
  uint8_t* plane_bits = nullptr;     // plane p starts at p * plane_stride; its bit i is value i's
  size_t plane_stride = 0;           // at least ceil(count / 8)
  uint8_t* exceptions = nullptr;     // room for count + kExceptionSlack bytes
};
constexpr size_t kExceptionSlack = 64;  // vectors are stored whole

// The way back. `exceptions` may be fewer than the codes ask for: the input is hostile.
struct ExponentMerge {
  const uint8_t* sign_mantissa = nullptr;
  const uint8_t* plane_bits = nullptr;
  size_t plane_stride = 0;
  const uint8_t* exceptions = nullptr;
  size_t exception_count = 0;
  size_t count = 0;
  uint8_t base = 0;
  unsigned planes = 0;
  uint8_t* values = nullptr;
};

struct Row {
  const char* name = nullptr;

  // Of the bytes so far (0 for none) followed by these.
  uint32_t (*crc32c)(uint32_t so_far, const uint8_t* data, size_t size) = nullptr;
  uint32_t (*copy_crc32c)(uint32_t so_far, uint8_t* to, const uint8_t* from, size_t size) = nullptr;
  // The same, and `to` goes around the caches where the instruction set can (crc32c.hpp says when).
  uint32_t (*stream_crc32c)(uint32_t so_far, uint8_t* to, const uint8_t* from,
                            size_t size) = nullptr;

  void (*fp32_to_bf16)(uint8_t* bf16, const uint8_t* fp32, size_t values) = nullptr;
  void (*bf16_to_fp32)(uint8_t* fp32, const uint8_t* bf16, size_t values) = nullptr;
  // fp32_to_bf16, then xor_delta with `previous`, without a pass over memory between them.
  void (*cast_delta)(uint8_t* delta, const uint8_t* fp32, const uint8_t* previous,
                     size_t values) = nullptr;

  // `to` may be `one` or `other` itself.
  void (*xor_delta)(uint8_t* to, const uint8_t* one, const uint8_t* other, size_t size) = nullptr;

  // Elements of `width` bytes (2 or 4) to `width` planes of `count` bytes, and back.
  void (*shuffle)(uint8_t* planes, const uint8_t* elements, size_t count, unsigned width) = nullptr;
  void (*unshuffle)(uint8_t* elements, const uint8_t* planes, size_t count,
                    unsigned width) = nullptr;

  // How many exceptions were written.
  size_t (*split_exponents)(const ExponentSplit& job) = nullptr;
  // How many exceptions the codes asked for. When that is not exception_count the block is corrupt
  // and `values` holds anything.
  size_t (*merge_exponents)(const ExponentMerge& job) = nullptr;
};

}  // namespace amdahl::kernels
