#include "operator/kube/socket_bio.hpp"

#include <openssl/bio.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>

#include "base/check.hpp"

namespace amdahl::kube {
namespace {

int socket_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

int write(BIO* bio, const char* data, std::size_t size, std::size_t* written) {
  BIO_clear_retry_flags(bio);
  const ssize_t result = ::send(socket_of(bio), data, size, MSG_NOSIGNAL);
  if (result < 0 && would_block()) BIO_set_retry_write(bio);
  *written = result > 0 ? static_cast<std::size_t>(result) : 0;
  return result > 0 ? 1 : 0;
}

int read(BIO* bio, char* data, std::size_t size, std::size_t* read_bytes) {
  BIO_clear_retry_flags(bio);
  const ssize_t result = ::recv(socket_of(bio), data, size, 0);
  if (result < 0 && would_block()) BIO_set_retry_read(bio);
  if (result == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  *read_bytes = result > 0 ? static_cast<std::size_t>(result) : 0;
  return result > 0 ? 1 : 0;
}

long control(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* make_method() {
  BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
  AMDAHL_CHECK(method != nullptr);
  BIO_meth_set_write_ex(method, write);
  BIO_meth_set_read_ex(method, read);
  BIO_meth_set_ctrl(method, control);
  return method;
}

}  // namespace

bio_st* make_socket_bio(int socket) {
  static BIO_METHOD* const method = make_method();  // lives as long as the process
  BIO* bio = BIO_new(method);
  AMDAHL_CHECK(bio != nullptr);
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace amdahl::kube
