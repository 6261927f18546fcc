// CRC32C of every 4 KB of a range. A warp takes one chunk, each lane 128 bytes of it; a host, or
// whoever has more chunks, joins the sums with crc32c_combine().
//
// Lanes are filled from the end: bytes before the first one are zero and do not change a sum that
// starts from zero, so every lane but the first that has bytes has exactly 128.
#pragma once

#include "kernels/cuda/device.cuh"

namespace amdahl::kernels::cuda {

constexpr size_t kChunkBytes = 4096;
constexpr size_t kLaneBytes = kChunkBytes / kWarp;
constexpr uint32_t kPolynomial = 0x82F63B78;

struct SumArguments {
  const uint8_t* data;
  size_t size;     // there are ceil(size / 4096) sums
  uint32_t* sums;  // each as crc32c() of its chunk gives it
};

__host__ __device__ constexpr uint32_t times_x(uint32_t value) {
  return (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
}

// Modulo the polynomial; the highest bit is x^0.
__host__ __device__ constexpr uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (int bit = 31; bit >= 0; --bit) {
    if ((a >> bit & 1) != 0) product ^= b;
    b = times_x(b);
  }
  return product;
}

__host__ __device__ constexpr uint32_t shift_by_lane() {
  uint32_t value = 0x80000000;
  for (size_t bit = 0; bit < 8 * kLaneBytes; ++bit) value = times_x(value);
  return value;
}

__device__ inline void fill_table(uint32_t* table) {
  uint32_t value = threadIdx.x;
  for (int bit = 0; bit < 8; ++bit) value = times_x(value);
  table[threadIdx.x] = value;
  __syncthreads();
}

// The part of a chunk that belongs to this lane, not inverted at its end.
__device__ inline uint32_t sum_of_lane(const uint8_t* chunk, size_t size, const uint32_t* table) {
  const size_t after = (kWarp - 1 - threadIdx.x % kWarp) * kLaneBytes;  // bytes of later lanes
  if (after >= size) return 0;
  const size_t end = size - after;
  const size_t start = end > kLaneBytes ? end - kLaneBytes : 0;
  uint32_t sum = start == 0 ? 0xFFFFFFFF : 0;
  for (size_t i = start; i < end; ++i) sum = (sum >> 8) ^ table[(sum ^ chunk[i]) & 0xFF];
  return sum;
}

extern "C" __global__ void amdahl_crc32c_partials(SumArguments job) {
  AMDAHL_SHARED(uint32_t, table, 256);
  fill_table(table);
  constexpr uint32_t kShift = shift_by_lane();
  const size_t chunk = blockIdx.x * kWarps + threadIdx.x / kWarp;
  const size_t begin = chunk * kChunkBytes;
  const size_t left = begin < job.size ? job.size - begin : 0;
  const size_t size = left < kChunkBytes ? left : kChunkBytes;
  uint32_t sum = sum_of_lane(job.data + (size != 0 ? begin : 0), size, table);
  uint32_t shift = kShift;
  for (unsigned distance = 1; distance < kWarp; distance *= 2) {
    sum = multiply(sum, shift) ^ __shfl_down_sync(kEveryLane, sum, distance);
    shift = multiply(shift, shift);
  }
  if (size != 0 && threadIdx.x % kWarp == 0) job.sums[chunk] = ~sum;
}

}  // namespace amdahl::kernels::cuda
