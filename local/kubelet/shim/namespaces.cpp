#include "local/kubelet/shim/namespaces.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.hpp"
#include "local/kubelet/shim/mounts.hpp"

namespace amdahl::local {
namespace {

Result<void> write_file(const std::string& path, const std::string& text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file || ::write(file.get(), text.data(), text.size()) != std::ssize(text))
    return fail(Errc::kIo, "write {}: {}", path, errno_text(errno));
  return {};
}

}  // namespace

Result<void> enter_namespaces() {
  constexpr int kSpaces = CLONE_NEWPID | CLONE_NEWUTS;
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (user == 0 && ::unshare(kSpaces) == 0) return {};
  if (::unshare(CLONE_NEWUSER | kSpaces) != 0)
    return fail(Errc::kIo, "unshare: {} (user namespaces are not permitted)", errno_text(errno));
  TRY(write_file("/proc/self/setgroups", "deny"));
  TRY(write_file("/proc/self/uid_map", fmt::format("{} {} 1", user, user)));
  return write_file("/proc/self/gid_map", fmt::format("{} {} 1", group, group));
}

Result<void> set_up_view(const ShimSpec& spec) {
  if (::unshare(CLONE_NEWNS) != 0) return fail(Errc::kIo, "unshare mounts: {}", errno_text(errno));
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return fail(Errc::kIo, "make mounts private: {}", errno_text(errno));
  TRY(bind_all(spec.mounts, spec.scratch));
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    return fail(Errc::kIo, "mount /proc: {}", errno_text(errno));
  if (!spec.hostname.empty() && ::sethostname(spec.hostname.data(), spec.hostname.size()) != 0)
    return fail(Errc::kIo, "set the host name {}: {}", spec.hostname, errno_text(errno));
  return {};
}

}  // namespace amdahl::local
