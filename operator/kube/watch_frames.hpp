// Cuts the body of a watch into events. Sans-IO: bytes in, views out.
//
// JSON streams are one event a line; protobuf streams are a 4-byte big-endian length and a
// message. Lifetime: a view lives until the next call of prepare(). Failure: an event over
// kFrameBytesMax, or a body that is neither, is an error and the stream is dropped (L7).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "operator/kube/request.hpp"
#include "operator/kube/watch_step.hpp"

namespace amdahl::kube {

inline constexpr std::size_t kFrameBytesMax = 8U << 20U;

class WatchFrames {
 public:
  explicit WatchFrames(Encoding encoding) : encoding_(encoding) {}

  // Room for at least `bytes` more; filled by the caller, who then says how much with filled().
  std::span<char> prepare(std::size_t bytes);
  void filled(std::size_t bytes) { end_ += bytes; }
  // The next whole event, or nothing yet.
  Result<std::optional<std::string_view>> next();
  bool empty() const { return begin_ == end_; }

 private:
  Result<std::optional<std::string_view>> next_line();
  Result<std::optional<std::string_view>> next_message();

  Encoding encoding_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of what was not handed out
  std::size_t end_ = 0;
  std::size_t scanned_ = 0;  // no newline before this offset
};

enum class FrameKind : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError, kUnknown };

struct WatchFrame {
  FrameKind kind = FrameKind::kUnknown;
  std::string_view object;              // JSON text, or a protobuf message without its envelope
  Encoding encoding = Encoding::kJson;  // of the object: an ERROR may be JSON inside protobuf
};

Result<WatchFrame> parse_frame(std::string_view frame, Encoding encoding);

}  // namespace amdahl::kube
