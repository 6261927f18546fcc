#include "checkpoint/store/file_write.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "checkpoint/store/direct_runs.hpp"
#include "checkpoint/store/file_error.hpp"

namespace amdahl::checkpoint {
namespace {

std::int64_t length(Bytes bytes) {
  return static_cast<std::int64_t>(bytes.size());
}

// Not every file system does everything; that is no error of the disk.
bool is_unsupported(long result) {
  constexpr std::array kUnsupported = {EOPNOTSUPP, ENOSYS, EINVAL, ESPIPE};
  return std::ranges::find(kUnsupported, -result) != kUnsupported.end();
}

class Writer {
 public:
  Writer(WriteTarget& target, const std::string& path) : target_(target), path_(path) {}

  Result<void> allocate(std::int64_t bytes) {
    if (!target_.large) return {};
    const int result = uninterrupted([&] { return target_.calls.allocate(target_.fd, bytes); });
    if (result < 0 && !is_unsupported(result))
      return file_error(result, fmt::format("make room for {} bytes in", bytes), path_);
    return {};
  }

  Result<void> write_all(std::int64_t at, Bytes bytes) {
    while (!bytes.empty()) {
      TRY(check_going(target_.clock, target_.call));
      const ssize_t written =
          uninterrupted([&] { return target_.calls.write(target_.fd, bytes, at); });
      if (written == -EINVAL && target_.direct) {
        TRY(leave_direct());
        continue;
      }
      if (written < 0) return file_error(written, "write", path_);
      if (written == 0) return fail(Errc::kIo, "write {}: nothing was written", path_);
      at += written;
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
  }

  Result<void> write_direct(std::span<const Bytes> pieces) {
    DirectRuns runs(pieces);
    std::int64_t end = 0;
    while (const auto run = runs.next()) {
      TRY(write_all(run->at, run->bytes));
      end = run->at + length(run->bytes);
    }
    if (end == runs.size()) return {};
    const int cut = uninterrupted([&] { return target_.calls.truncate(target_.fd, runs.size()); });
    if (cut < 0) return file_error(cut, "cut to size", path_);
    return {};
  }

  Result<void> write_buffered(std::span<const Bytes> pieces) {
    std::int64_t at = 0;
    for (Bytes piece : pieces) {
      while (!piece.empty()) {
        const Bytes part = piece.first(std::min(piece.size(), kBufferedWriteBytesMax));
        TRY(write_all(at, part));
        at += length(part);
        piece = piece.subspan(part.size());
        if (target_.large) TRY(push_out(at));
      }
    }
    return {};
  }

  Result<void> sync() {
    const int result = uninterrupted([&] { return target_.calls.sync(target_.fd); });
    if (result < 0)
      return wrap(file_error(result, "sync", path_).error(),
                  "final for this file, which is given up; save again");
    if (target_.large) (void)target_.calls.drop_cache(target_.fd, 0, 0);  // a courtesy
    return {};
  }

 private:
  Result<void> leave_direct() {
    target_.direct = false;
    const int result = target_.calls.leave_direct(target_.fd);
    if (result < 0) return file_error(result, "turn to buffered writes of", path_);
    return {};
  }

  // The disk works on the newest part while the one before is waited for and dropped.
  Result<void> push_out(std::int64_t end) {
    if (end - started_ < static_cast<std::int64_t>(kBufferedWriteBytesMax)) return {};
    TRY(writeback(target_.calls.start_writeback(target_.fd, started_, end - started_)));
    if (started_ > finished_) {
      const std::int64_t bytes = started_ - finished_;
      TRY(writeback(target_.calls.finish_writeback(target_.fd, finished_, bytes)));
      (void)target_.calls.drop_cache(target_.fd, finished_, bytes);  // a courtesy
    }
    finished_ = started_;
    started_ = end;
    return {};
  }
  Result<void> writeback(int result) {
    if (result >= 0 || result == -EINTR || is_unsupported(result)) return {};
    return file_error(result, "write to disk", path_);
  }

  WriteTarget& target_;
  const std::string& path_;
  std::int64_t started_ = 0;   // writeback was asked for up to here
  std::int64_t finished_ = 0;  // and is over up to here
};

}  // namespace

Result<void> write_durably(WriteTarget target, std::span<const Bytes> pieces,
                           const std::string& path) {
  Writer writer(target, path);
  TRY(writer.allocate(size_of(pieces)));
  TRY(target.direct ? writer.write_direct(pieces) : writer.write_buffered(pieces));
  TRY(check_going(target.clock, target.call));
  return writer.sync();
}

}  // namespace amdahl::checkpoint
