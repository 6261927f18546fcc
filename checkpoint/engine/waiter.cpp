#include "checkpoint/engine/waiter.hpp"

#include <condition_variable>
#include <mutex>

namespace amdahl::checkpoint {

bool RealWaiter::wait(std::chrono::nanoseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace amdahl::checkpoint
