// The trainer's output on its way to the container's log, unchanged and with the log's own pace.
//
// Holds at most one buffer: nothing is read before all of it is written, so a log that is slow
// slows the trainer as it would without us. A log that is gone is no reason to stop the trainer:
// from then on the output is dropped. What was read is offered once to `seen`. Thread: one; nothing
// blocks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "base/function_ref.hpp"

namespace amdahl::launch {

class StreamCopy {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{32} << 10U;
  // What a pipe takes without blocking when poll() says that it can take something.
  static constexpr std::size_t kWriteBytesMax = 4096;

  StreamCopy(Fd from, int to);

  int from() const { return from_.get(); }
  int to() const { return to_; }
  bool wants_read() const { return from_ && pending_.empty(); }
  bool wants_write() const { return !pending_.empty(); }
  bool finished() const { return !from_ && pending_.empty(); }

  void read(function_ref<void(std::string_view)> seen);
  void write();
  void give_up() { from_ = Fd(); }  // whoever still holds the other end writes to nobody

 private:
  Fd from_;
  int to_;
  std::size_t write_bytes_;
  bool broken_ = false;
  std::string buffer_;
  std::string_view pending_;
};

}  // namespace amdahl::launch
