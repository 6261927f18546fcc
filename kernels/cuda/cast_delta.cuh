// Twins of kernels/scalar/cast.cpp and delta.cpp. Pointers are aligned as cudaMalloc() gives them;
// a thread takes four values at a time, and the first threads take what remains.
#pragma once

#include "kernels/cuda/device.cuh"

namespace amdahl::kernels::cuda {

__device__ inline uint32_t rounded(uint32_t bits) {
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return bits >> 16 | 0x0040;
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

__device__ inline uint2 rounded4(uint4 bits) {
  return make_uint2(rounded(bits.x) | rounded(bits.y) << 16, rounded(bits.z) | rounded(bits.w)
                                                                                   << 16);
}

extern "C" __global__ void amdahl_fp32_to_bf16(uint16_t* bf16, const uint32_t* fp32,
                                               size_t values) {
  const size_t fours = values / 4;
  for (size_t i = first_item(); i < fours; i += item_stride())
    reinterpret_cast<uint2*>(bf16)[i] = rounded4(reinterpret_cast<const uint4*>(fp32)[i]);
  const size_t rest = 4 * fours + first_item();
  if (rest < values) bf16[rest] = static_cast<uint16_t>(rounded(fp32[rest]));
}

extern "C" __global__ void amdahl_bf16_to_fp32(uint32_t* fp32, const uint16_t* bf16,
                                               size_t values) {
  for (size_t i = first_item(); i < values; i += item_stride())
    fp32[i] = static_cast<uint32_t>(bf16[i]) << 16;
}

extern "C" __global__ void amdahl_cast_delta(uint16_t* delta, const uint32_t* fp32,
                                             const uint16_t* previous, size_t values) {
  const size_t fours = values / 4;
  for (size_t i = first_item(); i < fours; i += item_stride()) {
    const uint2 now = rounded4(reinterpret_cast<const uint4*>(fp32)[i]);
    const uint2 before = reinterpret_cast<const uint2*>(previous)[i];
    reinterpret_cast<uint2*>(delta)[i] = make_uint2(now.x ^ before.x, now.y ^ before.y);
  }
  const size_t rest = 4 * fours + first_item();
  if (rest < values) delta[rest] = static_cast<uint16_t>(rounded(fp32[rest]) ^ previous[rest]);
}

extern "C" __global__ void amdahl_xor_delta(uint8_t* to, const uint8_t* one, const uint8_t* other,
                                            size_t size) {
  const size_t wholes = size / 16;
  for (size_t i = first_item(); i < wholes; i += item_stride()) {
    const uint4 a = reinterpret_cast<const uint4*>(one)[i];
    const uint4 b = reinterpret_cast<const uint4*>(other)[i];
    reinterpret_cast<uint4*>(to)[i] = make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w);
  }
  const size_t rest = 16 * wholes + first_item();
  if (rest < size) to[rest] = one[rest] ^ other[rest];
}

}  // namespace amdahl::kernels::cuda
