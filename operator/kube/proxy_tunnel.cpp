#include "operator/kube/proxy_tunnel.hpp"

#include "operator/kube/http_framing.hpp"

namespace amdahl::kube {
namespace {

std::string connect_request(const std::string& authority, const std::string& authorization) {
  std::string text = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", authority);
  if (!authorization.empty()) text += fmt::format("Proxy-Authorization: {}\r\n", authorization);
  return text + "\r\n";
}

}  // namespace

Task<Result<void>> open_tunnel(Connection& connection, std::string authority,
                               std::string authorization) {
  const std::string request = connect_request(authority, authorization);
  CO_TRY(co_await connection.write_all(request));
  std::string head;  // taken byte by byte: what follows its end is not ours
  ResponseFraming framing;
  while (!framing.head_done()) {
    char byte = 0;
    CO_TRY(const auto size, connection.try_read({&byte, 1}));
    if (!size) {
      CO_TRY(co_await connection.wait_readable());
      continue;
    }
    if (*size == 0) co_return fail(Errc::kIo, "closed before it answered CONNECT {}", authority);
    head += byte;
    CO_TRY(const std::size_t used, framing.read_head(head));
    head.erase(0, used);
  }
  const int status = framing.head().status;
  if (status == 407)
    co_return fail(
        Errc::kUnauthorized,
        "CONNECT {}: the proxy asks for a user and password, or refuses those given (407)",
        authority);
  if (status < 200 || status > 299)
    co_return fail(status >= 500 ? Errc::kUnavailable : Errc::kForbidden,
                   "CONNECT {}: the proxy answered {}", authority, status);
  co_return Result<void>{};
}

}  // namespace amdahl::kube
