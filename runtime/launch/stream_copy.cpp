#include "runtime/launch/stream_copy.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace amdahl::launch {
namespace {

bool is_file(int fd) {
  struct stat info{};
  return ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

}  // namespace

StreamCopy::StreamCopy(Fd from, int to)
    : from_(std::move(from)),
      to_(to),
      write_bytes_(is_file(to) ? kBufferBytes : kWriteBytesMax),
      buffer_(kBufferBytes, '\0') {}

void StreamCopy::read(function_ref<void(std::string_view)> seen) {
  const ssize_t size = ::read(from_.get(), buffer_.data(), buffer_.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) {
    from_ = Fd();
    return;
  }
  const auto bytes = std::string_view(buffer_).substr(0, static_cast<std::size_t>(size));
  if (!broken_) pending_ = bytes;
  seen(bytes);
}

void StreamCopy::write() {
  const ssize_t size = ::write(to_, pending_.data(), std::min(pending_.size(), write_bytes_));
  if (size >= 0) {
    pending_.remove_prefix(static_cast<std::size_t>(size));
  } else if (errno != EAGAIN && errno != EINTR) {
    broken_ = true;
    pending_ = {};
  }
}

}  // namespace amdahl::launch
