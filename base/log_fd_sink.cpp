#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "base/log.hpp"

namespace amdahl {
namespace {

constexpr int kWaitMs = 50;   // for a reader that is slow
constexpr int kWaitsMax = 4;  // per line

class FdSink {
 public:
  explicit FdSink(int fd) : fd_(fd) {}

  void write_line(std::string_view line) {
    if (lost_ > 0 && !report_loss()) {
      ++lost_;
      return;
    }
    if (!write_all(line)) ++lost_;
  }

 private:
  bool report_loss() {
    const std::string text = fmt::format(
        "{}{{\"severity\":\"WARNING\",\"message\":\"log lines lost, the reader was too slow\","
        "\"lost\":{}}}\n",
        broken_line_ ? "\n" : "", lost_);
    if (!write_all(text)) return false;
    lost_ = 0;
    broken_line_ = false;
    return true;
  }

  // A blocking pipe blocks only if fewer than PIPE_BUF bytes are free, and poll() says so.
  bool write_all(std::string_view text) {
    const std::size_t size = text.size();
    // After a loss nobody waits any more until the reader is back.
    int waits_left = lost_ > 0 ? 0 : kWaitsMax;
    while (!text.empty()) {
      pollfd ready{.fd = fd_, .events = POLLOUT, .revents = 0};
      const int polled = ::poll(&ready, 1, waits_left > 0 ? kWaitMs : 0);
      if (polled < 0 && errno == EINTR) continue;
      if (polled < 0) break;
      if (polled == 0) {
        if (--waits_left <= 0) break;
        continue;
      }
      // The reader has gone, and writing to it would be answered with SIGPIPE.
      if ((ready.revents & (POLLERR | POLLNVAL)) != 0) break;
      const ssize_t written =
          ::write(fd_, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        if (--waits_left <= 0) break;
        continue;
      }
      if (written <= 0) break;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (text.empty()) return true;
    if (text.size() < size) broken_line_ = true;
    return false;
  }

  int fd_ = -1;
  std::uint64_t lost_ = 0;
  bool broken_line_ = false;  // half a line was written before the reader stopped
};

}  // namespace

LogSink fd_log_sink(int fd) {
  return [sink = std::make_shared<FdSink>(fd)](std::string_view line) { sink->write_line(line); };
}

}  // namespace amdahl
