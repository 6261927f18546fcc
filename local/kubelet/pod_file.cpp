#include "local/kubelet/pod_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

namespace amdahl::local {
namespace {

std::unexpected<Error> not_regular(const std::string& path) {
  return fail(Errc::kInvalid, "open {}: not a regular file; a program of the pod has replaced it",
              path);
}

}  // namespace

Result<Fd> open_pod_file(const std::string& path, int flags, unsigned mode) {
  Fd file(::open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode));
  // A link, and a FIFO or socket that nobody reads.
  if (!file && (errno == ELOOP || errno == ENXIO)) return not_regular(path);
  if (!file) return fail(Errc::kIo, "open {}: {}", path, errno_text(errno));
  struct stat info{};
  if (::fstat(file.get(), &info) != 0)
    return fail(Errc::kIo, "open {}: {}", path, errno_text(errno));
  if (!S_ISREG(info.st_mode)) return not_regular(path);
  return file;
}

}  // namespace amdahl::local
