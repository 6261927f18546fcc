#include "checkpoint/store/direct_runs.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"

namespace amdahl::checkpoint {

std::int64_t size_of(std::span<const Bytes> pieces) {
  std::int64_t bytes = 0;
  for (const Bytes piece : pieces) bytes += static_cast<std::int64_t>(piece.size());
  return bytes;
}

DirectRuns::DirectRuns(std::span<const Bytes> pieces) : pieces_(pieces), size_(size_of(pieces)) {
  skip_empty();
}

void DirectRuns::skip_empty() {
  while (first_.empty() && !pieces_.empty()) {
    first_ = pieces_.front();
    pieces_ = pieces_.subspan(1);
  }
}

// How much can be written from where it lies.
std::size_t DirectRuns::straight() const {
  const auto address = reinterpret_cast<std::uintptr_t>(first_.data());
  if (address % kDirectAlignment != 0) return 0;
  return std::min(kRunBytesMax, first_.size() / kDirectAlignment * kDirectAlignment);
}

Bytes DirectRuns::bounce() {
  if (buffer_ == nullptr)
    buffer_.reset(static_cast<std::byte*>(std::aligned_alloc(kDirectAlignment, kBounceBytes)));
  AMDAHL_CHECK(buffer_ != nullptr);
  std::size_t filled = 0;
  while (filled < kBounceBytes && !first_.empty()) {
    const std::size_t in_block = filled % kDirectAlignment;
    if (in_block == 0 && filled > 0 && straight() > 0) break;
    // To the next place from which the piece lies in memory as in the file, if there is one.
    const auto address = reinterpret_cast<std::uintptr_t>(first_.data());
    const bool lines_up = address % kDirectAlignment == in_block;
    const std::size_t useful = lines_up ? kDirectAlignment - in_block : first_.size();
    const std::size_t part = std::min({useful, first_.size(), kBounceBytes - filled});
    std::memcpy(buffer_.get() + filled, first_.data(), part);
    first_ = first_.subspan(part);
    filled += part;
    skip_empty();
  }
  const std::size_t whole = (filled + kDirectAlignment - 1) / kDirectAlignment * kDirectAlignment;
  std::memset(buffer_.get() + filled, 0, whole - filled);
  return {buffer_.get(), whole};
}

std::optional<DirectRuns::Run> DirectRuns::next() {
  if (first_.empty()) return std::nullopt;
  Run run{.at = at_};
  if (const std::size_t bytes = straight(); bytes > 0) {
    run.bytes = first_.first(bytes);
    first_ = first_.subspan(bytes);
    skip_empty();
  } else {
    run.bytes = bounce();
  }
  at_ += static_cast<std::int64_t>(run.bytes.size());
  return run;
}

}  // namespace amdahl::checkpoint
