// System calls with one fault, at one call, on a file system that may lack things. Thread: one.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "checkpoint/store/posix_calls.hpp"

namespace amdahl::checkpoint {

enum class FaultKind : std::uint8_t {
  kNone,
  kError,       // the call is not made, and says `error`
  kLostAnswer,  // the call is made, and says `error`
  kShort,       // half of a read or write is made
  kKillBefore,  // the process ends
  kKillAfter,
};
struct CallFault {
  int at = -1;  // which call, from 0
  FaultKind kind = FaultKind::kNone;
  int error = EIO;
  bool always = false;  // an error: from `at` on
};

// What a file system does not have.
struct FileSystemLacks {
  bool unnamed_files = false;
  bool direct_open = false;
  bool direct_write = false;
  bool allocate = false;
  bool links = false;
  bool proc = false;
  bool entry_types = false;
  int writes = 0;  // what every call says that would write; 0: they are made
};

inline constexpr int kKilled = 77;  // exit code

class FaultyCalls final : public PosixCalls {
 public:
  explicit FaultyCalls(FileSystemLacks lacks = {}, CallFault fault = {})
      : lacks_(std::move(lacks)), fault_(fault) {}

  const std::vector<std::string>& made() const { return made_; }

  int open(int directory, const char* path, int flags) override {
    if (lacks_.writes != 0 && (flags & (O_ACCMODE | O_CREAT)) != 0) return -lacks_.writes;
    if (lacks_.unnamed_files && (flags & O_TMPFILE) == O_TMPFILE) return -EOPNOTSUPP;
    if (lacks_.direct_open && (flags & O_DIRECT) != 0) return -EINVAL;
    const int fd = around("open", [&] { return real_.open(directory, path, flags); });
    direct_ = (flags & O_DIRECT) != 0;
    return fd;
  }
  int close(int fd) override {
    return around("close", [&] { return real_.close(fd); }, [&] { real_.close(fd); });
  }
  int make_directory(int directory, const char* path) override {
    if (lacks_.writes != 0) return -lacks_.writes;
    return around("mkdir", [&] { return real_.make_directory(directory, path); });
  }
  int unlink(int directory, const char* name) override {
    if (lacks_.writes != 0) return -lacks_.writes;
    return around("unlink", [&] { return real_.unlink(directory, name); });
  }
  int status(int fd, FileStatus& into) override {
    return around("status", [&] { return real_.status(fd, into); });
  }
  int status_at(int directory, const char* name, FileStatus& into) override {
    return around("status_at", [&] { return real_.status_at(directory, name, into); });
  }
  ssize_t entries(int fd, std::span<std::byte> into) override {
    const auto got = around("entries", [&] { return real_.entries(fd, into); });
    if (lacks_.entry_types && got > 0) forget_types(into.first(static_cast<std::size_t>(got)));
    return got;
  }
  ssize_t read(int fd, std::span<std::byte> into, std::int64_t at) override {
    if (is_due(FaultKind::kShort)) into = into.first((into.size() + 1) / 2);
    return around("read", [&] { return real_.read(fd, into, at); });
  }
  ssize_t write(int fd, Bytes bytes, std::int64_t at) override {
    if (lacks_.writes != 0) return -lacks_.writes;
    if (lacks_.direct_write && direct_) return -EINVAL;
    if (is_due(FaultKind::kShort)) bytes = bytes.first((bytes.size() + 1) / 2);
    return around("write", [&] { return real_.write(fd, bytes, at); });
  }
  int allocate(int fd, std::int64_t bytes) override {
    if (lacks_.writes != 0) return -lacks_.writes;
    if (lacks_.allocate) return -EOPNOTSUPP;
    return around("allocate", [&] { return real_.allocate(fd, bytes); });
  }
  int truncate(int fd, std::int64_t bytes) override {
    if (lacks_.writes != 0) return -lacks_.writes;
    return around("truncate", [&] { return real_.truncate(fd, bytes); });
  }
  int leave_direct(int fd) override {
    direct_ = false;
    return around("leave_direct", [&] { return real_.leave_direct(fd); });
  }
  int sync(int fd) override {
    return around("sync", [&] { return real_.sync(fd); });
  }
  int start_writeback(int fd, std::int64_t at, std::int64_t bytes) override {
    return around("start_writeback", [&] { return real_.start_writeback(fd, at, bytes); });
  }
  int finish_writeback(int fd, std::int64_t at, std::int64_t bytes) override {
    return around("finish_writeback", [&] { return real_.finish_writeback(fd, at, bytes); });
  }
  int drop_cache(int fd, std::int64_t at, std::int64_t bytes) override {
    return around("drop_cache", [&] { return real_.drop_cache(fd, at, bytes); });
  }
  int link_open(int fd, int directory, const char* name) override {
    if (lacks_.writes != 0) return -lacks_.writes;
    if (lacks_.proc) return -ENOENT;
    return around("link_open", [&] { return real_.link_open(fd, directory, name); });
  }
  int link(int from, const char* name, int to, const char* new_name) override {
    if (lacks_.writes != 0) return -lacks_.writes;
    if (lacks_.links) return -EPERM;
    return around("link", [&] { return real_.link(from, name, to, new_name); });
  }
  int rename_new(int from, const char* name, int to, const char* new_name) override {
    if (lacks_.writes != 0) return -lacks_.writes;
    return around("rename", [&] { return real_.rename_new(from, name, to, new_name); });
  }

 private:
  bool is_due(FaultKind kind) const {
    return fault_.kind == kind && fault_.at == static_cast<int>(made_.size());
  }
  template <class Call>
  auto around(const char* name, Call call) -> decltype(call()) {
    return around(name, call, [] {});
  }
  // `anyway` is what also happens when the call is said to have failed.
  template <class Call, class Anyway>
  auto around(const char* name, Call call, Anyway anyway) -> decltype(call()) {
    const int number = static_cast<int>(made_.size());
    const bool due = fault_.at == number || (fault_.always && fault_.at < number);
    made_.emplace_back(name);
    if (!due) return call();
    if (fault_.kind == FaultKind::kKillBefore) ::_exit(kKilled);
    if (fault_.kind == FaultKind::kError) {
      anyway();
      return -fault_.error;
    }
    const auto result = call();
    if (fault_.kind == FaultKind::kKillAfter) ::_exit(kKilled);
    if (fault_.kind != FaultKind::kLostAnswer) return result;
    // A descriptor that the caller does not hear of is not lost to the process.
    if (made_.back() == "open" && result >= 0) real_.close(static_cast<int>(result));
    return -fault_.error;
  }
  static void forget_types(std::span<std::byte> entries);

  PosixCalls& real_ = system_calls();
  const FileSystemLacks lacks_;
  const CallFault fault_;
  std::vector<std::string> made_;
  bool direct_ = false;  // of the file that was opened last
};

}  // namespace amdahl::checkpoint
