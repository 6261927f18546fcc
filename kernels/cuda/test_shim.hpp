// Runs kernels of this folder on a CPU: each thread of a CUDA block is a fibre, which runs until it
// has to wait for others. Blocks run one after the other.
//
// The order in which fibres run is the caller's choice: a kernel that forgets a barrier gives
// another result in some order. Shared memory comes from the heap, of its exact size and full of
// garbage, so that the address sanitizer sees an index too far. A barrier that not everybody
// reaches stops the process. Not modelled: the memory model, divergence inside a warp, speed.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "kernels/test_ranges.hpp"

#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define AMDAHL_FIBRES_ARE_WATCHED 1
#endif

#define __global__
#define __device__
#define __host__
#define AMDAHL_SHARED(type, name, count) \
  type* const name = static_cast<type*>(::shim::shared(#name, sizeof(type) * (count)))

struct alignas(8) uint2 {
  std::uint32_t x, y;
};
struct alignas(16) uint4 {
  std::uint32_t x, y, z, w;
};
inline uint2 make_uint2(std::uint32_t x, std::uint32_t y) {
  return {x, y};
}
inline uint4 make_uint4(std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t w) {
  return {x, y, z, w};
}
struct Dim {
  unsigned x = 0;
};
inline Dim threadIdx;
inline Dim blockIdx;
inline Dim gridDim;

namespace shim {

constexpr unsigned kWarp = 32;
constexpr std::size_t kStackBytes = 32U << 10;

// Where threads wait for each other: all of a block, or all of a warp.
struct Meeting {
  unsigned size = 0;
  unsigned arrived = 0;
  unsigned generation = 0;
};

struct Warp {
  Meeting meeting;
  std::uint32_t value[2][kWarp] = {};  // by turns: some may still read the last ones
};

struct Fibre {
  ucontext_t context{};
  char* stack = nullptr;
  void* fake_stack = nullptr;  // the address sanitizer's
  bool done = false;
};

struct Block {
  std::vector<Fibre> fibres;
  std::vector<Warp> warps;
  Meeting everybody;
  std::map<std::string, std::vector<char>> shared;
  ucontext_t scheduler{};
  const void* scheduler_stack = nullptr;
  std::size_t scheduler_stack_bytes = 0;
  const std::function<void()>* body = nullptr;
  bool moved = false;  // somebody got on since the last round
};
inline Block* running = nullptr;

inline void* shared(const char* name, std::size_t size) {
  std::vector<char>& memory = running->shared[name];
  if (memory.empty()) memory.assign(size, static_cast<char>(0xA5));
  return memory.data();
}

inline void switched_to(void** save, const void* stack, std::size_t size) {
#ifdef AMDAHL_FIBRES_ARE_WATCHED
  __sanitizer_start_switch_fiber(save, stack, size);
#endif
  (void)save, (void)stack, (void)size;
}
inline void arrived_from(void* saved, const void** stack, std::size_t* size) {
#ifdef AMDAHL_FIBRES_ARE_WATCHED
  __sanitizer_finish_switch_fiber(saved, stack, size);
#endif
  (void)saved, (void)stack, (void)size;
}

inline void back_to_scheduler(Fibre& fibre) {
  switched_to(fibre.done ? nullptr : &fibre.fake_stack, running->scheduler_stack,
              running->scheduler_stack_bytes);
  ::swapcontext(&fibre.context, &running->scheduler);
  arrived_from(fibre.fake_stack, &running->scheduler_stack, &running->scheduler_stack_bytes);
}

inline void run_fibre() {
  arrived_from(nullptr, &running->scheduler_stack, &running->scheduler_stack_bytes);
  Fibre& fibre = running->fibres[threadIdx.x];
  (*running->body)();
  fibre.done = true;
  running->moved = true;
  back_to_scheduler(fibre);
}

inline void wait_at(Meeting& meeting) {
  running->moved = true;
  const unsigned generation = meeting.generation;
  if (++meeting.arrived == meeting.size) {
    meeting.arrived = 0;
    ++meeting.generation;
    return;
  }
  while (meeting.generation == generation) back_to_scheduler(running->fibres[threadIdx.x]);
  running->moved = true;
}

// Kept from block to block: getting them anew takes longer than running a kernel.
inline char* stack_of(std::size_t thread) {
  static std::vector<std::unique_ptr<char[]>> stacks;
  while (stacks.size() <= thread)
    stacks.push_back(std::make_unique_for_overwrite<char[]>(kStackBytes));
#ifdef AMDAHL_FIBRES_ARE_WATCHED
  ASAN_UNPOISON_MEMORY_REGION(stacks[thread].get(), kStackBytes);
#endif
  return stacks[thread].get();
}

inline void prepare(Block& block, unsigned threads) {
  block.fibres.resize(threads);
  block.warps.resize(threads / kWarp);
  block.everybody.size = threads;
  for (Warp& warp : block.warps) warp.meeting.size = kWarp;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    Fibre& fibre = block.fibres[thread];
    fibre.stack = stack_of(thread);
    ::getcontext(&fibre.context);
    fibre.context.uc_stack.ss_sp = fibre.stack;
    fibre.context.uc_stack.ss_size = kStackBytes;
    ::makecontext(&fibre.context, run_fibre, 0);
  }
}

inline void resume(Block& block, unsigned thread) {
  Fibre& fibre = block.fibres[thread];
  threadIdx.x = thread;
  void* fake_stack = nullptr;
  switched_to(&fake_stack, fibre.stack, kStackBytes);
  ::swapcontext(&block.scheduler, &fibre.context);
  arrived_from(fake_stack, nullptr, nullptr);
}

// Rounds over all threads in this order until everybody is done.
inline void run_block(const std::vector<unsigned>& order, const std::function<void()>& body) {
  Block block;
  block.body = &body;
  running = &block;
  prepare(block, static_cast<unsigned>(order.size()));
  do {
    block.moved = false;
    for (const unsigned thread : order)
      if (!block.fibres[thread].done) resume(block, thread);
  } while (block.moved);
  running = nullptr;
  if (!std::ranges::all_of(block.fibres, &Fibre::done)) {
    std::fprintf(stderr, "cuda shim: a thread waits for others that never come\n");
    std::abort();
  }
}

// The seed of an order: 0 is forward, 1 is backward, others are random.
inline std::vector<unsigned> order_of(unsigned threads, std::uint64_t seed) {
  std::vector<unsigned> order(threads);
  std::iota(order.begin(), order.end(), 0U);
  if (seed == 1) std::ranges::reverse(order);
  amdahl::kernels::Noise noise(seed);
  for (std::size_t i = threads; seed > 1 && i > 1; --i)
    std::swap(order[i - 1], order[noise.next() % i]);
  return order;
}

inline void launch(unsigned blocks, unsigned threads, std::uint64_t seed,
                   const std::function<void()>& body) {
  gridDim.x = blocks;
  const std::vector<unsigned> order = order_of(threads, seed);
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) run_block(order, body);
}

}  // namespace shim

inline void __syncthreads() {
  ::shim::wait_at(::shim::running->everybody);
}

inline int __popc(std::uint32_t bits) {
  return __builtin_popcount(bits);
}

// Every lane gives its value, and sees those of all once everybody has.
inline const std::uint32_t* values_of_warp(std::uint32_t mine) {
  ::shim::Warp& warp = ::shim::running->warps[threadIdx.x / ::shim::kWarp];
  std::uint32_t* values = warp.value[warp.meeting.generation % 2];
  values[threadIdx.x % ::shim::kWarp] = mine;
  ::shim::wait_at(warp.meeting);
  return values;
}

inline std::uint32_t __ballot_sync(std::uint32_t mask, bool predicate) {
  if (mask != 0xFFFFFFFF) std::abort();  // nothing else is modelled
  const std::uint32_t* values = values_of_warp(predicate ? 1 : 0);
  std::uint32_t bits = 0;
  for (unsigned lane = 0; lane < ::shim::kWarp; ++lane) bits |= values[lane] << lane;
  return bits;
}

inline std::uint32_t __shfl_down_sync(std::uint32_t mask, std::uint32_t value, unsigned distance) {
  if (mask != 0xFFFFFFFF) std::abort();
  const std::uint32_t* values = values_of_warp(value);
  const unsigned from = threadIdx.x % ::shim::kWarp + distance;
  return from < ::shim::kWarp ? values[from] : value;
}
