#include "local/cluster/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace amdahl::local {
namespace {

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

std::unexpected<Error> file_error(std::string_view what, const std::string& path, int error) {
  const Errc code = error == ENOENT ? Errc::kNotFound : Errc::kIo;
  return fail(code, "{} {}: {}", what, path, std::generic_category().message(error));
}

Result<void> write_whole_file(const std::string& path, std::string_view text, mode_t mode) {
  std::string fresh = path + ".XXXXXX";
  const int file = ::mkostemp(fresh.data(), O_CLOEXEC);
  if (file < 0) return file_error("write", path, errno);
  const bool written = ::fchmod(file, mode) == 0 && write_all(file, text) && ::fsync(file) == 0;
  int error = written ? 0 : errno;
  ::close(file);
  if (error == 0 && std::rename(fresh.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(fresh.c_str());
  return file_error("write", path, error);
}

}  // namespace amdahl::local
