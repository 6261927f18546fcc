#include "checkpoint/engine/agent_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace amdahl::checkpoint {
namespace {

constexpr std::size_t kFdsMax = 4;  // that a packet of a stranger may bring; one is kept

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path))
    return fail(Errc::kInvalid, "checkpoint agent {}: a socket's path has 1 to {} bytes", path,
                sizeof(address.sun_path) - 1);
  std::copy_n(path.data(), path.size(), address.sun_path);
  return address;
}

Result<Fd> make_socket() {
  const Fd low(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!low) return fail(Errc::kIo, "socket: {}", errno_text(errno));
  return duplicate_fd(low.get());
}

std::unexpected<Error> gone(int error) {
  return fail(Errc::kIo, "the other side of the checkpoint agent's socket is gone{}{}",
              error == 0 ? "" : ": ", error == 0 ? "" : errno_text(error));
}

// The first descriptor of a packet; the others are closed.
Fd passed_with(msghdr& header) {
  Fd kept;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      Fd one(number);
      if (!kept) kept = std::move(one);
    }
  }
  return kept;
}

}  // namespace

Result<AgentSocket> AgentSocket::connect(const std::string& path) {
  TRY(const sockaddr_un address, address_of(path));
  TRY(Fd fd, make_socket());
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail(Errc::kIo, "checkpoint agent {}: {}", path, errno_text(errno));
  return AgentSocket(std::move(fd));
}

Result<void> AgentSocket::send(const AgentMessage& message, int passed_fd) const {
  std::string text = write_agent_message(message);
  iovec part{.iov_base = text.data(), .iov_len = text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (passed_fd >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &passed_fd, sizeof(int));
  }
  for (;;) {
    if (::sendmsg(fd_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return {};
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != ENOBUFS) return gone(errno);
    pollfd room{.fd = fd_.get(), .events = POLLOUT, .revents = 0};
    const auto patience = std::chrono::milliseconds(kAgentSendMax).count();
    if (::poll(&room, 1, static_cast<int>(patience)) == 0)
      return fail(Errc::kTimeout, "the other side of the checkpoint agent's socket reads nothing");
  }
}

Result<std::optional<AgentPacket>> AgentSocket::receive() const {
  std::string text(kAgentMessageBytesMax + 1, '\0');
  iovec part{.iov_base = text.data(), .iov_len = text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kFdsMax * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(fd_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (size <= 0) return gone(size < 0 ? errno : 0);
  AgentPacket packet{.fd = passed_with(header)};
  TRY(packet.message,
      read_agent_message(std::string_view(text).substr(0, static_cast<std::size_t>(size))));
  return packet;
}

Result<void> AgentSocket::wait(std::chrono::milliseconds patience, int wake) const {
  pollfd fds[2] = {{.fd = fd_.get(), .events = POLLIN, .revents = 0},
                   {.fd = wake, .events = POLLIN, .revents = 0}};
  const int ready = ::poll(fds, 2, static_cast<int>(patience.count()));
  if (ready == 0) return fail(Errc::kTimeout, "the checkpoint agent does not answer");
  return {};
}

void AgentSocket::shut_down() const {
  ::shutdown(fd_.get(), SHUT_RDWR);
}

Result<Fd> listen_for_trainers(const std::string& path) {
  TRY(const sockaddr_un address, address_of(path));
  TRY(Fd fd, make_socket());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail(Errc::kIo, "checkpoint agent {}: {}", path, errno_text(errno));
  (void)::chmod(path.c_str(), S_IRUSR | S_IWUSR);  // who gets in all the same is asked for its user
  if (::listen(fd.get(), kAgentBacklogMax) != 0)
    return fail(Errc::kIo, "checkpoint agent {}: {}", path, errno_text(errno));
  return fd;
}

Result<std::optional<AcceptedTrainer>> accept_trainer(int listener) {
  pollfd waiting{.fd = listener, .events = POLLIN, .revents = 0};
  if (::poll(&waiting, 1, 0) != 1) return std::nullopt;
  const Fd low(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (!low) return fail(Errc::kIo, "accept: {}", errno_text(errno));
  TRY(Fd fd, duplicate_fd(low.get()));
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return fail(Errc::kIo, "SO_PEERCRED: {}", errno_text(errno));
  if (peer.uid != ::geteuid())
    return fail(Errc::kForbidden, "a process of user {} is turned away", peer.uid);
  return AcceptedTrainer{.socket = AgentSocket(std::move(fd)), .pid = peer.pid};
}

}  // namespace amdahl::checkpoint
