// Memory that snapshots are copied into: one region, taken and touched up front, used again and
// again. Copying into pages that were never touched takes six times as long.
//
// A region is private to the process, or shared: an anonymous file, or one on a memory volume,
// whose descriptor another process can map. No file keeps its name, so that nothing is left of a
// process that is killed. Thread: any. Failure: kTooLarge when the machine has not as much,
// kInvalid, kIo; the text has the number of bytes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "kernels/bytes.hpp"

namespace amdahl::checkpoint {

inline constexpr std::int64_t kArenaBytesMax = std::int64_t{1} << 44;
inline constexpr std::int64_t kArenaAlignment = 4096;  // of leases; what O_DIRECT wants
inline constexpr std::size_t kLeasesMax = 16;

constexpr std::int64_t aligned_up(std::int64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

enum class ArenaKind : std::uint8_t { kPrivate, kAnonymousFile, kFile, kFolder };
struct ArenaOptions {
  std::int64_t bytes = 0;
  ArenaKind kind = ArenaKind::kPrivate;
  std::string path = {};  // of kFile: created, and must not be there; or where a file is made
  bool touch_now = true;  // else what leases need, when they first need it
};

class Arena {
 public:
  static Result<Arena> create(const ArenaOptions& options);
  // One that somebody else created: all of the file, to be read. kForbidden unless it is sealed or
  // has no name, for a file that is cut short under its reader kills it.
  static Result<Arena> adopt(int fd);
  Arena(Arena&& other) noexcept
      : fd_(std::move(other.fd_)),
        memory_(std::exchange(other.memory_, {})),
        touched_(other.touched_) {}
  Arena& operator=(Arena&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(memory_, other.memory_);
    std::swap(touched_, other.touched_);
    return *this;
  }
  ~Arena();

  kernels::MutableBytes memory() const { return memory_; }
  // Takes the pages from the start up to `end`, unless they are.
  Result<void> touch(std::int64_t end);
  std::int64_t bytes() const { return static_cast<std::int64_t>(memory_.size()); }
  int fd() const { return fd_.get(); }  // -1: private

 private:
  Arena(Fd fd, kernels::MutableBytes memory) : fd_(std::move(fd)), memory_(memory) {}
  static Result<Arena> mapped(Fd fd, std::int64_t bytes, int protection);

  Fd fd_;
  kernels::MutableBytes memory_;
  std::int64_t touched_ = 0;
};

// Hands out ranges of an arena, the lowest that fits first. A range comes back when its lease dies.
class ArenaSpace : public std::enable_shared_from_this<ArenaSpace> {
 public:
  // Keeps the space and its arena alive.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept
        : space_(std::move(other.space_)), begin_(other.begin_), bytes_(other.bytes_) {}
    Lease& operator=(Lease&& other) noexcept {
      std::swap(space_, other.space_);
      std::swap(begin_, other.begin_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Lease();
    const Arena& arena() const { return space_->arena(); }
    std::int64_t begin() const { return begin_; }
    kernels::MutableBytes memory() const;

   private:
    friend ArenaSpace;
    Lease(std::shared_ptr<ArenaSpace> space, std::int64_t begin, std::int64_t bytes)
        : space_(std::move(space)), begin_(begin), bytes_(bytes) {}
    std::shared_ptr<ArenaSpace> space_;
    std::int64_t begin_ = 0;
    std::int64_t bytes_ = 0;
  };

  // At most `leases_max` at once, whatever fits.
  static std::shared_ptr<ArenaSpace> make(Arena arena, std::size_t leases_max);

  const Arena& arena() const { return arena_; }
  // Waits up to `patience` for others to end. kTooLarge at once for what can never fit, kThrottled
  // when nothing came free.
  Result<Lease> take(std::int64_t bytes, std::chrono::nanoseconds patience);
  bool idle() const;  // no lease is out

 private:
  struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  ArenaSpace(Arena arena, std::size_t leases_max);
  std::int64_t free_place(std::int64_t bytes) const;  // -1: none
  void give_back(std::int64_t begin);

  Arena arena_;
  std::size_t leases_max_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<Range> taken_;  // by begin
};

}  // namespace amdahl::checkpoint
