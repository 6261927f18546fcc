#include "checkpoint/store/posix_calls.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace amdahl::checkpoint {
namespace {

// The umask of the process says who else may read and write.
constexpr mode_t kFileMode = 0666;
constexpr mode_t kDirectoryMode = 0777;

template <class Number>
Number or_errno(Number result) {
  return result < 0 ? -errno : result;
}

FileStatus status_of(const struct stat& status) {
  const std::chrono::seconds seconds(status.st_mtim.tv_sec);
  const std::chrono::nanoseconds rest(status.st_mtim.tv_nsec);
  return {
      .regular = S_ISREG(status.st_mode),
      .directory = S_ISDIR(status.st_mode),
      .device = status.st_dev,
      .inode = status.st_ino,
      .bytes = status.st_size,
      .modified = WallTime(std::chrono::duration_cast<std::chrono::microseconds>(rest) + seconds)};
}

class SystemCalls final : public PosixCalls {
 public:
  int open(int directory, const char* path, int flags) override {
    return or_errno(::openat(directory, path, flags | O_CLOEXEC, kFileMode));
  }
  int close(int fd) override { return or_errno(::close(fd)); }
  int make_directory(int directory, const char* path) override {
    return or_errno(::mkdirat(directory, path, kDirectoryMode));
  }
  int unlink(int directory, const char* name) override {
    return or_errno(::unlinkat(directory, name, 0));
  }
  int status(int fd, FileStatus& into) override {
    struct stat status = {};
    if (::fstat(fd, &status) != 0) return -errno;
    into = status_of(status);
    return 0;
  }
  int status_at(int directory, const char* name, FileStatus& into) override {
    struct stat status = {};
    if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return -errno;
    into = status_of(status);
    return 0;
  }
  ssize_t entries(int fd, std::span<std::byte> into) override {
    return or_errno(::getdents64(fd, into.data(), into.size()));
  }
  ssize_t read(int fd, std::span<std::byte> into, std::int64_t at) override {
    return or_errno(::pread(fd, into.data(), into.size(), at));
  }
  ssize_t write(int fd, Bytes bytes, std::int64_t at) override {
    return or_errno(::pwrite(fd, bytes.data(), bytes.size(), at));
  }
  int allocate(int fd, std::int64_t bytes) override {
    return or_errno(::fallocate(fd, 0, 0, bytes));
  }
  int truncate(int fd, std::int64_t bytes) override { return or_errno(::ftruncate(fd, bytes)); }
  int leave_direct(int fd) override {
    const int flags = ::fcntl(fd, F_GETFL);
    return flags < 0 ? -errno : or_errno(::fcntl(fd, F_SETFL, flags & ~O_DIRECT));
  }
  int sync(int fd) override { return or_errno(::fsync(fd)); }
  int start_writeback(int fd, std::int64_t at, std::int64_t bytes) override {
    return or_errno(::sync_file_range(fd, at, bytes, SYNC_FILE_RANGE_WRITE));
  }
  int finish_writeback(int fd, std::int64_t at, std::int64_t bytes) override {
    constexpr unsigned kAll =
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    return or_errno(::sync_file_range(fd, at, bytes, kAll));
  }
  int drop_cache(int fd, std::int64_t at, std::int64_t bytes) override {
    return -::posix_fadvise(fd, at, bytes, POSIX_FADV_DONTNEED);
  }
  int link_open(int fd, int directory, const char* name) override {
    const std::string path = fmt::format("/proc/self/fd/{}", fd);
    return or_errno(::linkat(AT_FDCWD, path.c_str(), directory, name, AT_SYMLINK_FOLLOW));
  }
  int link(int from, const char* name, int to, const char* new_name) override {
    return or_errno(::linkat(from, name, to, new_name, 0));
  }
  int rename_new(int from, const char* name, int to, const char* new_name) override {
    return or_errno(::renameat2(from, name, to, new_name, RENAME_NOREPLACE));
  }
};

}  // namespace

PosixCalls& system_calls() {
  static SystemCalls calls;
  return calls;
}

}  // namespace amdahl::checkpoint
