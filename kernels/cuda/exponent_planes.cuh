// Twins of kernels/scalar/exponent_planes.cpp: a thread block takes one block of the codec, a warp
// 512 neighbouring values of it, so that one barrier is enough to know where exceptions go.
//
// What one codec block needs lies in slots of fixed size, because blocks do not wait for each
// other: values and signs 4096 apart, planes 7 x 512 bytes, exceptions 4096 bytes.
#pragma once

#include "kernels/cuda/device.cuh"

namespace amdahl::kernels::cuda {

constexpr size_t kBlockValues = 4096;
constexpr size_t kPlanesMax = 7;
constexpr size_t kPlaneSlot = kPlanesMax * (kBlockValues / 8);
constexpr size_t kWarpValues = kBlockValues / kWarps;

struct Window {
  uint8_t base;
  uint8_t planes;  // 1 to 7
};

struct SplitArguments {
  const uint16_t* values;
  size_t count;           // of the tensor; there are ceil(count / 4096) thread blocks
  const Window* windows;  // one for each block
  uint8_t* sign_mantissa;
  uint8_t* plane_bits;
  uint8_t* exceptions;
  uint32_t* exception_counts;
};

struct MergeArguments {
  const uint8_t* sign_mantissa;
  const uint8_t* plane_bits;
  const uint8_t* exceptions;
  const uint32_t* exception_counts;  // at most 4096 each
  const Window* windows;
  size_t count;
  uint16_t* values;
  uint32_t* asked;  // exceptions that the codes asked for; not those there were: a corrupt block
};

// Where a thread stands in its codec block.
struct Place {
  size_t start;       // of the codec block, in the tensor
  size_t count;       // values of the codec block
  size_t warp_start;  // in the codec block
  unsigned lane;
};

__device__ inline Place my_place(size_t values) {
  const size_t start = blockIdx.x * kBlockValues;
  const size_t left = values - start;
  return {start, left < kBlockValues ? left : kBlockValues, threadIdx.x / kWarp * kWarpValues,
          threadIdx.x % kWarp};
}

__device__ inline size_t plane_stride(const Place& place) {
  return (place.count + 7) / 8;
}

// Exceptions of the warps before this one. Every thread calls it once, with its warp's number.
__device__ inline uint32_t exceptions_before(uint32_t* counts, uint32_t mine) {
  const unsigned warp = threadIdx.x / kWarp;
  if (threadIdx.x % kWarp == 0) counts[warp] = mine;
  __syncthreads();
  uint32_t before = 0;
  for (unsigned other = 0; other < warp; ++other) before += counts[other];
  return before;
}

__device__ inline uint32_t exponent_of(uint16_t value) {
  return value >> 7 & 0xFF;
}

__device__ inline uint32_t code_of(uint16_t value, Window window) {
  const uint32_t escape = (1U << window.planes) - 1;
  const uint32_t code = (exponent_of(value) - window.base) & 0xFF;
  return code < escape ? code : escape;
}

// Up to 32 bits that begin at value `at`; a plane ends with its last byte, not with a word.
__device__ inline void store_bits(uint8_t* plane, size_t at, size_t count, uint32_t bits) {
  for (size_t byte = 0; byte < 4 && at + 8 * byte < count; ++byte)
    plane[at / 8 + byte] = static_cast<uint8_t>(bits >> (8 * byte));
}

__device__ inline uint32_t load_bits(const uint8_t* plane, size_t at, size_t count) {
  uint32_t bits = 0;
  for (size_t byte = 0; byte < 4 && at + 8 * byte < count; ++byte)
    bits |= static_cast<uint32_t>(plane[at / 8 + byte]) << (8 * byte);
  return bits;
}

// Signs, mantissas and planes; returns how many exceptions the warp has.
__device__ inline uint32_t split_values(const SplitArguments& job, const Place& place,
                                        Window window) {
  const uint32_t escape = (1U << window.planes) - 1;
  uint8_t* planes = job.plane_bits + blockIdx.x * kPlaneSlot;
  uint32_t found = 0;
  for (size_t at = place.warp_start; at < place.warp_start + kWarpValues; at += kWarp) {
    const size_t mine = at + place.lane;
    const bool inside = mine < place.count;
    const uint16_t value = inside ? job.values[place.start + mine] : 0;
    const uint32_t code = inside ? code_of(value, window) : 0;
    if (inside)
      job.sign_mantissa[place.start + mine] =
          static_cast<uint8_t>((value >> 8 & 0x80) | (value & 0x7F));
    for (unsigned plane = 0; plane < window.planes; ++plane) {
      const uint32_t bits = __ballot_sync(kEveryLane, code >> plane & 1);
      if (place.lane == 0) store_bits(planes + plane * plane_stride(place), at, place.count, bits);
    }
    found += __popc(__ballot_sync(kEveryLane, inside && code == escape));
  }
  return found;
}

// Values are read again: they are in a cache, and registers are dear.
__device__ inline void keep_exceptions(const SplitArguments& job, const Place& place, Window window,
                                       uint32_t next) {
  const uint32_t escape = (1U << window.planes) - 1;
  uint8_t* exceptions = job.exceptions + blockIdx.x * kBlockValues;
  for (size_t at = place.warp_start; at < place.warp_start + kWarpValues; at += kWarp) {
    const size_t mine = at + place.lane;
    const bool inside = mine < place.count;
    const uint16_t value = inside ? job.values[place.start + mine] : 0;
    const bool escaped = inside && code_of(value, window) == escape;
    const uint32_t which = __ballot_sync(kEveryLane, escaped);
    const uint32_t earlier = __popc(which & ((1U << place.lane) - 1));
    if (escaped) exceptions[next + earlier] = static_cast<uint8_t>(exponent_of(value));
    next += __popc(which);
  }
}

extern "C" __global__ void amdahl_split_exponents(SplitArguments job) {
  AMDAHL_SHARED(uint32_t, counts, kWarps);
  const Place place = my_place(job.count);
  const Window window = job.windows[blockIdx.x];
  const uint32_t found = split_values(job, place, window);
  const uint32_t next = exceptions_before(counts, found);
  if (threadIdx.x == kThreads - 1) job.exception_counts[blockIdx.x] = next + found;
  keep_exceptions(job, place, window, next);
}

// Of the 32 values from `at` on: those whose code is all ones.
__device__ inline uint32_t escapes_at(const uint8_t* planes, Window window, const Place& place,
                                      size_t at) {
  if (at >= place.count) return 0;
  const size_t left = place.count - at;
  uint32_t all = left < kWarp ? (1U << left) - 1 : kEveryLane;
  for (unsigned plane = 0; plane < window.planes; ++plane)
    all &= load_bits(planes + plane * plane_stride(place), at, place.count);
  return all;
}

__device__ inline void merge_values(const MergeArguments& job, const Place& place, Window window,
                                    uint32_t next) {
  const uint8_t* planes = job.plane_bits + blockIdx.x * kPlaneSlot;
  const uint8_t* exceptions = job.exceptions + blockIdx.x * kBlockValues;
  const uint32_t there = job.exception_counts[blockIdx.x];
  for (size_t at = place.warp_start; at < place.warp_start + kWarpValues; at += kWarp) {
    const uint32_t which = escapes_at(planes, window, place, at);
    uint32_t exponent = window.base;
    for (unsigned plane = 0; plane < window.planes; ++plane)
      exponent +=
          (load_bits(planes + plane * plane_stride(place), at, place.count) >> place.lane & 1)
          << plane;
    if ((which >> place.lane & 1) != 0) {
      const uint32_t index = next + __popc(which & ((1U << place.lane) - 1));
      exponent = index < there ? exceptions[index] : 0;
    }
    next += __popc(which);
    if (at + place.lane >= place.count) continue;
    const uint32_t rest = job.sign_mantissa[place.start + at + place.lane];
    job.values[place.start + at + place.lane] =
        static_cast<uint16_t>((rest & 0x80) << 8 | (exponent & 0xFF) << 7 | (rest & 0x7F));
  }
}

extern "C" __global__ void amdahl_merge_exponents(MergeArguments job) {
  AMDAHL_SHARED(uint32_t, counts, kWarps);
  const Place place = my_place(job.count);
  const Window window = job.windows[blockIdx.x];
  const uint8_t* planes = job.plane_bits + blockIdx.x * kPlaneSlot;
  uint32_t found = 0;
  for (size_t at = place.warp_start; at < place.warp_start + kWarpValues; at += kWarp)
    found += __popc(escapes_at(planes, window, place, at));
  const uint32_t next = exceptions_before(counts, found);
  if (threadIdx.x == kThreads - 1) job.asked[blockIdx.x] = next + found;
  merge_values(job, place, window, next);
}

}  // namespace amdahl::kernels::cuda
