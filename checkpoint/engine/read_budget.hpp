// Memory for records that are read side by side: a reader takes its share before it reads, and
// waits while others hold too much.
//
// One of a look lies within one of all looks (`within`). A reader holds one share at a time, so
// no reader waits for itself. Thread: any. Lifetime: outlives its holds; `within` outlives it.
// Failure: kThrottled for a share that is larger than the whole budget, which is no damage of what
// was to be read; kTimeout at the deadline, kCancelled after a stop.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>

#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

class ReadBudget {
 public:
  ReadBudget(const Clock& clock, std::size_t bytes_max, ReadBudget* within = nullptr)
      : clock_(clock), bytes_max_(bytes_max), within_(within) {}
  ReadBudget(const ReadBudget&) = delete;
  ReadBudget& operator=(const ReadBudget&) = delete;
  ~ReadBudget() = default;

  class Hold {
   public:
    Hold(ReadBudget& budget, std::size_t bytes) : budget_(&budget), bytes_(bytes) {}
    Hold(Hold&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    Hold& operator=(Hold&&) = delete;
    ~Hold() {
      if (budget_ != nullptr) budget_->give_back(bytes_);
    }

   private:
    ReadBudget* budget_;
    std::size_t bytes_;
  };
  Result<Hold> take(std::size_t bytes, const StoreCall& call);

  std::size_t bytes_max() const { return bytes_max_; }
  std::size_t peak() const;  // the most that was held at once

 private:
  Result<void> reserve(std::size_t bytes, const StoreCall& call);
  void release(std::size_t bytes);
  void give_back(std::size_t bytes);

  const Clock& clock_;
  std::size_t bytes_max_;
  ReadBudget* within_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t held_ = 0;
  std::size_t peak_ = 0;
};

}  // namespace amdahl::checkpoint
