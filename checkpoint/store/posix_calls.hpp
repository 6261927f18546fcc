// The system calls of FileStore, one function each, so that a test can stand between: fail one,
// cut a write short, end the process there.
//
// A result below zero is -errno, as the kernel gives it. Thread: any. Lifetime: outlives the store.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <span>
#include <utility>

#include "base/clock.hpp"
#include "checkpoint/format/digest.hpp"

namespace amdahl::checkpoint {

struct FileStatus {
  bool regular = false;
  bool directory = false;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t bytes = 0;
  WallTime modified = {};
};

class PosixCalls {
 public:
  virtual ~PosixCalls() = default;

  virtual int open(int directory, const char* path, int flags) = 0;  // openat
  virtual int close(int fd) = 0;
  virtual int make_directory(int directory, const char* path) = 0;               // mkdirat
  virtual int unlink(int directory, const char* name) = 0;                       // unlinkat
  virtual int status(int fd, FileStatus& into) = 0;                              // fstat
  virtual int status_at(int directory, const char* name, FileStatus& into) = 0;  // no link followed
  virtual ssize_t entries(int fd, std::span<std::byte> into) = 0;                // getdents64

  virtual ssize_t read(int fd, std::span<std::byte> into, std::int64_t at) = 0;  // pread
  virtual ssize_t write(int fd, Bytes bytes, std::int64_t at) = 0;               // pwrite
  virtual int allocate(int fd, std::int64_t bytes) = 0;                          // fallocate
  virtual int truncate(int fd, std::int64_t bytes) = 0;                          // ftruncate
  virtual int leave_direct(int fd) = 0;  // takes O_DIRECT off
  virtual int sync(int fd) = 0;          // fsync
  virtual int start_writeback(int fd, std::int64_t at, std::int64_t bytes) = 0;   // sync_file_range
  virtual int finish_writeback(int fd, std::int64_t at, std::int64_t bytes) = 0;  // and waits
  virtual int drop_cache(int fd, std::int64_t at, std::int64_t bytes) = 0;  // POSIX_FADV_DONTNEED

  // None of the three replaces what is there: -EEXIST.
  virtual int link_open(int fd, int directory, const char* name) = 0;  // a file without a name
  virtual int link(int from, const char* name, int to, const char* new_name) = 0;
  virtual int rename_new(int from, const char* name, int to, const char* new_name) = 0;
};

PosixCalls& system_calls();

// Again while a signal interrupts; a bound, so that nothing here can go on for ever.
inline constexpr int kInterruptsMax = 1000;
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  for (int i = 0; i < kInterruptsMax && result == -EINTR; ++i) result = call();
  return result;
}

// A descriptor that is closed through the calls it came from.
class OpenFile {
 public:
  OpenFile() = default;
  OpenFile(PosixCalls& calls, int fd) : calls_(&calls), fd_(fd) {}
  OpenFile(OpenFile&& other) noexcept : calls_(other.calls_), fd_(std::exchange(other.fd_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(calls_, other.calls_);
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~OpenFile() {
    // What matters was synced before; an error of close() says nothing about it.
    if (fd_ >= 0) (void)calls_->close(fd_);
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  PosixCalls* calls_ = nullptr;
  int fd_ = -1;
};

}  // namespace amdahl::checkpoint
