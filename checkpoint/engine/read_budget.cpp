#include "checkpoint/engine/read_budget.hpp"

#include <algorithm>
#include <chrono>

#include "checkpoint/store/store_call.hpp"

namespace amdahl::checkpoint {
namespace {

// The deadline is one of a clock that the condition variable does not know.
constexpr std::chrono::milliseconds kLookAtClock{20};

}  // namespace

Result<void> ReadBudget::reserve(std::size_t bytes, const StoreCall& call) {
  std::unique_lock lock(mutex_);
  while (held_ + bytes > bytes_max_) {
    TRY(check_going(clock_, call));
    changed_.wait_for(lock, kLookAtClock);
  }
  held_ += bytes;
  peak_ = std::max(peak_, held_);
  return {};
}

void ReadBudget::release(std::size_t bytes) {
  {
    const std::scoped_lock lock(mutex_);
    held_ -= bytes;
  }
  changed_.notify_all();
}

void ReadBudget::give_back(std::size_t bytes) {
  if (within_ != nullptr) within_->release(bytes);
  release(bytes);
}

Result<ReadBudget::Hold> ReadBudget::take(std::size_t bytes, const StoreCall& call) {
  const std::size_t most =
      within_ == nullptr ? bytes_max_ : std::min(bytes_max_, within_->bytes_max_);
  if (bytes > most)
    return fail(Errc::kThrottled, "{} bytes of memory to read it, which exceeds the limit of {}",
                bytes, most);
  TRY(reserve(bytes, call));
  if (within_ != nullptr) {
    if (auto outer = within_->reserve(bytes, call); !outer) {
      release(bytes);
      return std::unexpected<Error>(std::move(outer).error());
    }
  }
  return Hold(*this, bytes);
}

std::size_t ReadBudget::peak() const {
  const std::scoped_lock lock(mutex_);
  return peak_;
}

}  // namespace amdahl::checkpoint
