// What the avx512 row has of its own; contracts are in kernels/row.hpp, the rest of the row in
// kernels/dispatch.cpp.
#pragma once

#include "kernels/row.hpp"

namespace amdahl::kernels::avx512 {

uint32_t crc32c(uint32_t so_far, const uint8_t* data, size_t size);
uint32_t copy_crc32c(uint32_t so_far, uint8_t* to, const uint8_t* from, size_t size);
uint32_t stream_crc32c(uint32_t so_far, uint8_t* to, const uint8_t* from, size_t size);
void fp32_to_bf16(uint8_t* bf16, const uint8_t* fp32, size_t values);
void cast_delta(uint8_t* delta, const uint8_t* fp32, const uint8_t* previous, size_t values);
size_t split_exponents(const ExponentSplit& job);
size_t merge_exponents(const ExponentMerge& job);

}  // namespace amdahl::kernels::avx512
