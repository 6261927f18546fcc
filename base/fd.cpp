#include "base/fd.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace amdahl {
namespace {

Result<Pipe> lift(int first, int second) {
  const Fd low_first(first);
  const Fd low_second(second);
  TRY(Fd read, duplicate_fd(first));
  TRY(Fd write, duplicate_fd(second));
  return Pipe{.read = std::move(read), .write = std::move(write)};
}

}  // namespace

std::string errno_text(int error) {
  return std::generic_category().message(error);
}

void Fd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<Fd> duplicate_fd(int fd) {
  Fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, kFdLow));
  if (!copy) return fail(Errc::kIo, "dup: {}", errno_text(errno));
  return copy;
}

Result<Pipe> make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Errc::kIo, "pipe: {}", errno_text(errno));
  TRY(Pipe pipe, lift(ends[0], ends[1]));
  if (::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK) != 0)
    return fail(Errc::kIo, "pipe: {}", errno_text(errno));
  return pipe;
}

Result<Pipe> make_socket_pair() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
    return fail(Errc::kIo, "socketpair: {}", errno_text(errno));
  return lift(ends[0], ends[1]);
}

}  // namespace amdahl
