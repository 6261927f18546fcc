#include "operator/kube/environment.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace amdahl::kube {
namespace {

constexpr int kPipeWaitMs = 5000;  // for the next bytes of a path that names a pipe

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

bool wait_readable(int fd) {
  pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, kPipeWaitMs) > 0;
}

std::unexpected<Error> system_failure(const std::string& path, int error) {
  const Errc code = error == ENOENT || error == ENOTDIR ? Errc::kNotFound : Errc::kIo;
  return fail(code, "read {}: {}", path, std::generic_category().message(error));
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t bytes_max) {
  // Nonblocking: --kubeconfig <(command) is a pipe, and a pipe must not stop the program for ever.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return system_failure(path, errno);
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return system_failure(path, errno);
  if (S_ISDIR(info.st_mode)) return fail(Errc::kIo, "read {}: it is a directory", path);

  std::string text;
  char buffer[16 * 1024];
  while (true) {
    const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && (errno == EINTR || (errno == EAGAIN && wait_readable(file.get())))) continue;
    if (count < 0) return system_failure(path, errno);
    if (count == 0) return text;
    if (text.size() + static_cast<std::size_t>(count) > bytes_max)
      return fail(Errc::kTooLarge, "read {}: more than {} bytes", path, bytes_max);
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

std::optional<std::string> Environment::get(std::string_view name) const {
  const auto found = variables.find(name);
  if (found == variables.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

Environment process_environment() {
  Environment environment;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    environment.variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  environment.terminal = ::isatty(STDIN_FILENO) == 1;
  return environment;
}

}  // namespace amdahl::kube
