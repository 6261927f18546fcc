#include "runtime/launch/line_splitter.hpp"

#include <algorithm>
#include <cstring>

namespace amdahl::launch {
namespace {

// Where the first line of `bytes` ends; its size when it has no end.
std::size_t line_end(std::string_view bytes) {
  const void* newline = std::memchr(bytes.data(), '\n', bytes.size());
  const auto distance = [&](const void* at) {
    return static_cast<std::size_t>(static_cast<const char*>(at) - bytes.data());
  };
  const std::size_t end = newline == nullptr ? bytes.size() : distance(newline);
  const void* back = std::memchr(bytes.data(), '\r', end);
  return back == nullptr ? end : distance(back);
}

}  // namespace

void LineSplitter::feed(std::string_view bytes, function_ref<void(std::string_view)> line) {
  while (!bytes.empty()) {
    const std::size_t end = line_end(bytes);
    const std::string_view part = bytes.substr(0, std::min(end, kLineBytesMax));
    const bool ended = end < bytes.size();
    if (ended && begun_.empty()) {  // the usual case copies nothing
      if (!part.empty() && !skipping_) line(part);
    } else {
      begun_.append(part.substr(0, kLineBytesMax - begun_.size()));
      if (ended && !skipping_) line(begun_);
    }
    if (ended) {
      begun_.clear();
      skipping_ = false;
    }
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
}

void LineSplitter::gap() {
  // A line that had not begun may come whole: what was lost may be the other stream's.
  skipping_ = skipping_ || !begun_.empty();
  begun_.clear();
}

void LineSplitter::clear() {
  begun_.clear();
  skipping_ = false;
}

void LineSplitter::finish(function_ref<void(std::string_view)> line) {
  if (!begun_.empty() && !skipping_) line(begun_);
  clear();
}

}  // namespace amdahl::launch
