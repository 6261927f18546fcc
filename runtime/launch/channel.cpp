#include "runtime/launch/channel.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>

#include "base/check.hpp"

namespace amdahl::launch {

Channel::Sent Channel::send(Message kind, std::string_view body) {
  AMDAHL_CHECK(body.size() <= kPacketBytesMax);
  if (!fd_) return Sent::kGone;
  char tag = static_cast<char>(kind);
  std::array<iovec, 2> parts = {
      iovec{.iov_base = &tag, .iov_len = 1},
      iovec{.iov_base = const_cast<char*>(body.data()), .iov_len = body.size()}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (::sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return Sent::kYes;
  const bool full = errno == EAGAIN || errno == ENOBUFS || errno == EINTR;
  return full ? Sent::kFull : Sent::kGone;
}

Result<std::optional<Packet>> Channel::receive() {
  const ssize_t size = ::recv(fd_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (size <= 0) return fail(Errc::kIo, "the other process of the launcher is gone");
  return Packet{.kind = static_cast<Message>(buffer_[0]),
                .body = std::string_view(buffer_).substr(1, static_cast<std::size_t>(size) - 1)};
}

Result<ChannelPair> make_channel() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
    return fail(Errc::kIo, "socketpair: {}", errno_text(errno));
  const Fd first(ends[0]);
  const Fd second(ends[1]);
  // The low numbers are the trainer's.
  TRY(Fd high_first, duplicate_fd(first.get()));
  TRY(Fd high_second, duplicate_fd(second.get()));
  return ChannelPair{.first = Channel(std::move(high_first)),
                     .second = Channel(std::move(high_second))};
}

}  // namespace amdahl::launch
