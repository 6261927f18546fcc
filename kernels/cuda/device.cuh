// What the kernels of this folder share. Compiled by nvcc; by clang for tests, after test_shim.hpp
// has said what the words of CUDA mean on a CPU.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define AMDAHL_SHARED(type, name, count) __shared__ type name[count]
#endif

namespace amdahl::kernels::cuda {

constexpr unsigned kThreads = 256;  // of a block, in every kernel here
constexpr unsigned kWarp = 32;
constexpr unsigned kWarps = kThreads / kWarp;
constexpr unsigned kEveryLane = 0xFFFFFFFF;

__device__ inline size_t first_item() {
  return static_cast<size_t>(blockIdx.x) * kThreads + threadIdx.x;
}
__device__ inline size_t item_stride() {
  return static_cast<size_t>(gridDim.x) * kThreads;
}

}  // namespace amdahl::kernels::cuda
