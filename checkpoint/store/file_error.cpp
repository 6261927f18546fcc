#include "checkpoint/store/file_error.hpp"

#include <cerrno>
#include <cstdlib>

#include "base/fd.hpp"

namespace amdahl::checkpoint {
namespace {

struct Meaning {
  int error = 0;
  Errc code = Errc::kIo;
  std::string_view next_step = {};
};

constexpr Meaning kMeanings[] = {
    {EACCES, Errc::kForbidden, "give the user of this process the right, as with fsGroup"},
    {EPERM, Errc::kForbidden, "give the user of this process the right, as with fsGroup"},
    {EROFS, Errc::kForbidden, "mount the volume so that it can be written"},
    {ENOSPC, Errc::kIo, "enlarge the volume, or keep fewer checkpoints"},
    {EDQUOT, Errc::kIo, "raise the quota, or keep fewer checkpoints"},
    {EFBIG, Errc::kTooLarge, "this file system takes no file so large; save smaller objects"},
    {EIO, Errc::kIo, "the disk or its server failed; read the kernel's log of this node"},
    {ESTALE, Errc::kIo, "the file server forgot it; mount the volume again"},
    {ENOENT, Errc::kNotFound, {}},
    {ELOOP, Errc::kInvalid, "a symbolic link is in the way, and none is followed; remove it"},
    {ENOTDIR, Errc::kInvalid, "a part of its path is no directory; move that away"},
    {ENAMETOOLONG, Errc::kInvalid, "use a shorter path"},
    {EMFILE, Errc::kIo, "raise the limit of open files (ulimit -n)"},
    {ENFILE, Errc::kIo, "this machine has too many open files"},
};

}  // namespace

std::unexpected<Error> file_error(long error, std::string_view doing, std::string_view path) {
  const int number = static_cast<int>(std::labs(error));
  for (const Meaning& meaning : kMeanings) {
    if (meaning.error != number) continue;
    if (meaning.next_step.empty())
      return fail(meaning.code, "{} {}: {}", doing, path, errno_text(number));
    return fail(meaning.code, "{} {}: {}; {}", doing, path, errno_text(number), meaning.next_step);
  }
  return fail(Errc::kIo, "{} {}: {}", doing, path, errno_text(number));
}

}  // namespace amdahl::checkpoint
