// File descriptors with an owner.
//
// Thread: any. Lifetime: an Fd closes what it holds. Failure: Errc::kIo with the system's words.
#pragma once

#include <string>
#include <utility>

#include "base/result.hpp"

namespace amdahl {

std::string errno_text(int error);

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { reset(); }

  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void reset();
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// Both ends are closed on exec and lie at kFdLow or above, so that they survive being copied onto
// the low numbers of a child.
struct Pipe {
  Fd read = {};
  Fd write = {};
};
inline constexpr int kFdLow = 10;
Result<Pipe> make_pipe();         // the read end does not block
Result<Pipe> make_socket_pair();  // both ways; neither end blocks

// Another number for the same file, at kFdLow or above and closed on exec.
Result<Fd> duplicate_fd(int fd);

}  // namespace amdahl
