#include "runtime/launch/install.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/fd.hpp"

namespace amdahl::launch {
namespace {

Result<void> copy(const std::string& from, const std::string& to) {
  const Fd source(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!source) return fail(Errc::kIo, "open {}: {}", from, errno_text(errno));
  const Fd target(::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0755));
  if (!target) return fail(Errc::kIo, "open {}: {}", to, errno_text(errno));
  std::string buffer(std::size_t{256} << 10U, '\0');
  for (;;) {
    const ssize_t size = ::read(source.get(), buffer.data(), buffer.size());
    if (size < 0) return fail(Errc::kIo, "read {}: {}", from, errno_text(errno));
    if (size == 0) break;
    for (ssize_t done = 0; done < size;) {
      const ssize_t part =
          ::write(target.get(), buffer.data() + done, static_cast<std::size_t>(size - done));
      if (part <= 0) return fail(Errc::kIo, "write {}: {}", to, errno_text(errno));
      done += part;
    }
  }
  // The umask does not decide who may start it.
  if (::fchmod(target.get(), 0755) != 0 || ::fsync(target.get()) != 0)
    return fail(Errc::kIo, "write {}: {}", to, errno_text(errno));
  return {};
}

}  // namespace

Result<std::string> install(const std::string& program, const std::string& folder) {
  std::string path = folder + "/" + kProgramName;
  const std::string temporary = path + ".new";
  if (auto copied = copy(program, temporary); !copied) {
    ::unlink(temporary.c_str());
    return wrap(std::move(copied).error(), "install");
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return fail(Errc::kIo, "install {}: {}", path, errno_text(errno));
  return path;
}

}  // namespace amdahl::launch
