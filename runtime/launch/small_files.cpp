#include "runtime/launch/small_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/fd.hpp"
#include "runtime/launch/report_text.hpp"

namespace amdahl::launch {
namespace {

Result<void> write_all(int fd, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(fd, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return fail(Errc::kIo, "write {}: {}", path, errno_text(errno));
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return {};
}

}  // namespace

Result<void> write_termination_log(const std::string& path, std::string_view text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0644));
  if (!file) return fail(Errc::kIo, "open {}: {}", path, errno_text(errno));
  return write_all(file.get(), path, text);
}

void write_termination_log_if_empty(const std::string& path, const api::Report& report) {
  if (path.empty()) return;
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0 && info.st_size > 0) return;
  (void)write_termination_log(path, termination_message(report));  // nobody is left to tell
}

Result<std::string> read_small_file(const std::string& path, std::size_t bytes_max) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    const Errc code = errno == ENOENT ? Errc::kNotFound : Errc::kIo;
    return fail(code, "open {}: {}", path, errno_text(errno));
  }
  std::string text(bytes_max + 1, '\0');
  std::size_t filled = 0;
  for (;;) {
    const ssize_t size = ::read(file.get(), text.data() + filled, text.size() - filled);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return fail(Errc::kIo, "read {}: {}", path, errno_text(errno));
    filled += static_cast<std::size_t>(size);
    if (filled > bytes_max) return fail(Errc::kTooLarge, "{} has over {} bytes", path, bytes_max);
    if (size == 0) break;
  }
  text.resize(filled);
  return text;
}

std::string read_hosts(const std::string& path) {
  if (path.empty()) return {};
  return read_small_file(path, kHostsFileBytesMax).value_or(std::string());
}

Result<void> write_file_atomically(const std::string& path, std::string_view text, unsigned mode) {
  const std::string temporary = path + ".new";
  {
    const Fd file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode));
    if (!file) return fail(Errc::kIo, "open {}: {}", temporary, errno_text(errno));
    TRY(write_all(file.get(), temporary, text));
    if (::fchmod(file.get(), mode) != 0)
      return fail(Errc::kIo, "chmod {}: {}", temporary, errno_text(errno));
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return fail(Errc::kIo, "rename {} to {}: {}", temporary, path, errno_text(errno));
  return {};
}

}  // namespace amdahl::launch
