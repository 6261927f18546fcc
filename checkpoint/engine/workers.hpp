// One piece of work after another, on a few threads, until all are done or one has failed.
//
// Nothing outlives the call. With one thread everything runs on the caller's, in order. Failure:
// the first error; pieces that had begun are finished, others are not begun.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace amdahl::checkpoint {

inline constexpr int kWorkersMax = 64;

template <class Work>
Result<void> run_on_workers(std::size_t pieces, int threads, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::optional<Error> error;
  const auto run = [&] {
    for (std::size_t piece = next++; piece < pieces; piece = next++) {
      Result<void> done = work(piece);
      if (done) continue;
      const std::scoped_lock lock(mutex);
      if (!error) error = std::move(done).error();
      next = pieces;
    }
  };
  {
    const int wanted = std::clamp(threads, 1, kWorkersMax);
    std::vector<std::jthread> others;
    for (int i = 1; i < wanted && std::cmp_less(i, pieces); ++i) others.emplace_back(run);
    run();
  }
  if (error) return std::unexpected<Error>(*std::move(error));
  return {};
}

}  // namespace amdahl::checkpoint
