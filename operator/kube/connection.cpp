#include "operator/kube/connection.hpp"

#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>

#include "base/check.hpp"
#include "operator/kube/dial.hpp"
#include "operator/kube/proxy_tunnel.hpp"
#include "operator/kube/socket_bio.hpp"

namespace amdahl::kube {
namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

// What a TLS operation needs before it can go on.
enum class Wants : std::uint8_t { kNothing, kRead, kWrite };

}  // namespace

struct Connection::State {
  State(tcp::socket the_socket, std::string the_peer)
      : socket(std::move(the_socket)), peer(std::move(the_peer)) {}

  tcp::socket socket;
  std::string peer;
  std::string server_name;
  std::shared_ptr<TlsContext> contexts[2];  // of the server, of the proxy: outlive the SSL objects
  SslPtr tls;                               // outermost layer; owns the proxy's below it
  std::string aborted;                      // why abort() was called

  std::unexpected<Error> broken(const error_code& error, std::string_view doing) const;
  std::unexpected<Error> tls_broken(int result, std::string_view doing);
  Result<std::optional<std::size_t>> try_read_plain(std::span<char> into);
  Result<std::optional<std::size_t>> try_read_tls(std::span<char> into);
  Result<std::pair<std::size_t, Wants>> try_write(std::string_view bytes);
  Result<Wants> wants_of(int result, std::string_view doing);
  Task<Result<void>> wait(Wants wants, std::string_view doing);
  Result<void> add_tls(const std::shared_ptr<TlsContext>& context, const std::string& name);
  Task<Result<void>> handshake();
  void set_options();
};

std::unexpected<Error> Connection::State::broken(const error_code& error,
                                                 std::string_view doing) const {
  if (!aborted.empty()) return fail(Errc::kIo, "{} {}: {}", doing, peer, aborted);
  if (error == asio::error::operation_aborted) return fail(Errc::kCancelled, "{} {}", doing, peer);
  return fail(Errc::kIo, "{} {}: {}", doing, peer, reason(error));
}

void Connection::State::set_options() {
  error_code ignored;  // none of these is worth failing for
  socket.non_blocking(true, ignored);
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  const int fd = socket.native_handle();
  const auto set = [fd](int option, int value) {
    (void)::setsockopt(fd, IPPROTO_TCP, option, &value, sizeof value);
  };
  set(TCP_KEEPIDLE, static_cast<int>(kKeepAliveIdle.count()));
  set(TCP_KEEPINTVL, static_cast<int>(kKeepAliveInterval.count()));
  set(TCP_KEEPCNT, kKeepAliveProbes);
  set(TCP_USER_TIMEOUT, static_cast<int>(std::chrono::milliseconds(kTcpUserTimeout).count()));
}

Task<Result<void>> Connection::State::wait(Wants wants, std::string_view doing) {
  const auto direction = wants == Wants::kWrite ? tcp::socket::wait_write : tcp::socket::wait_read;
  auto [error] = co_await socket.async_wait(direction, kTuple);
  if (error || !aborted.empty()) co_return broken(error, doing);
  co_return Result<void>{};
}

Result<std::optional<std::size_t>> Connection::State::try_read_plain(std::span<char> into) {
  error_code error;
  const std::size_t size = socket.read_some(asio::buffer(into.data(), into.size()), error);
  if (!error) return size;
  if (error == asio::error::eof) return 0;
  if (error == asio::error::would_block || error == asio::error::interrupted) return std::nullopt;
  return broken(error, "read from");
}

// Fills `into` from as many records as have arrived.
Result<std::optional<std::size_t>> Connection::State::try_read_tls(std::span<char> into) {
  std::size_t total = 0;
  while (total < into.size()) {
    ERR_clear_error();
    std::size_t size = 0;
    const int result = SSL_read_ex(tls.get(), into.data() + total, into.size() - total, &size);
    if (result == 1) {
      total += size;
      continue;
    }
    if (total > 0) break;  // a failure comes again at the next call
    if (SSL_get_error(tls.get(), result) == SSL_ERROR_ZERO_RETURN) return 0;
    TRY(const Wants wants, wants_of(result, "read from"));
    (void)wants;  // a handshake message that cannot be written now goes out with the next write
    return std::nullopt;
  }
  return total;
}

Result<Wants> Connection::State::wants_of(int result, std::string_view doing) {
  const int code = SSL_get_error(tls.get(), result);
  if (code == SSL_ERROR_WANT_READ) return Wants::kRead;
  if (code == SSL_ERROR_WANT_WRITE) return Wants::kWrite;
  const int system = errno;
  if (code == SSL_ERROR_SYSCALL || !aborted.empty()) {
    if (system != 0) return broken(error_code(system, boost::system::system_category()), doing);
    return broken(asio::error::eof, doing);
  }
  if (code == SSL_ERROR_ZERO_RETURN ||
      ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    ERR_clear_error();
    return fail(Errc::kIo, "{} {}: closed by the server", doing, peer);
  }
  return fail(Errc::kTls, "{} {}: {}", doing, peer, describe_tls_failure(tls.get(), server_name));
}

Result<std::pair<std::size_t, Wants>> Connection::State::try_write(std::string_view bytes) {
  using Written = std::pair<std::size_t, Wants>;
  if (tls) {
    ERR_clear_error();
    std::size_t size = 0;
    const int result = SSL_write_ex(tls.get(), bytes.data(), bytes.size(), &size);
    if (result == 1) return Written{size, Wants::kNothing};
    TRY(const Wants wants, wants_of(result, "write to"));
    return Written{0, wants};
  }
  error_code error;
  const std::size_t size = socket.write_some(asio::buffer(bytes.data(), bytes.size()), error);
  if (!error) return Written{size, Wants::kNothing};
  if (error == asio::error::would_block || error == asio::error::interrupted)
    return Written{0, Wants::kWrite};
  return broken(error, "write to");
}

// Puts TLS on top of what there is: the socket, or the TLS connection to the proxy.
Result<void> Connection::State::add_tls(const std::shared_ptr<TlsContext>& context,
                                        const std::string& name) {
  auto layer = context->client(name);
  if (!layer) return wrap(std::move(layer).error(), "tls {}", peer);
  contexts[tls ? 1 : 0] = context;
  BIO* below = nullptr;
  if (tls) {
    below = BIO_new(BIO_f_ssl());
    AMDAHL_CHECK(below != nullptr);
    BIO_set_ssl(below, tls.release(), BIO_CLOSE);
  } else {
    below = make_socket_bio(socket.native_handle());
  }
  SSL_set_bio(layer->get(), below, below);
  tls = std::move(*layer);
  server_name = name;
  return {};
}

Task<Result<void>> Connection::State::handshake() {
  for (;;) {
    ERR_clear_error();
    errno = 0;
    const int result = SSL_do_handshake(tls.get());
    if (result == 1) co_return Result<void>{};
    CO_TRY(const Wants wants, wants_of(result, "tls handshake with"));
    CO_TRY(co_await wait(wants, "tls handshake with"));
  }
}

Connection::Connection(std::unique_ptr<State> state) : state_(std::move(state)) {}

Connection::~Connection() {
  // Says goodbye if that is possible at once; nobody waits for an answer.
  if (state_->tls && state_->aborted.empty() && SSL_is_init_finished(state_->tls.get()) == 1) {
    ERR_clear_error();
    SSL_shutdown(state_->tls.get());
    ERR_clear_error();
  }
}

Task<Result<std::shared_ptr<Connection>>> Connection::open(ConnectTarget target, Clock& clock) {
  const auto& proxy = target.proxy;
  const std::string host = proxy ? proxy->host : target.host;
  const std::uint16_t port = proxy ? proxy->port : target.port;
  CO_TRY(auto socket, co_await dial(host, port, clock, target.address_timeout));
  auto state = std::make_unique<State>(std::move(socket), host_port(host, port));
  State& raw = *state;
  const auto connection = std::make_shared<Connection>(std::move(state));
  raw.set_options();
  if (proxy) {
    if (proxy->tls) {
      AMDAHL_CHECK(target.proxy_tls != nullptr);
      CO_TRY(raw.add_tls(target.proxy_tls, proxy->host));
      CO_TRY(co_await raw.handshake());
    }
    const std::string authority = host_port(target.host, target.port);
    auto tunnelled = co_await open_tunnel(*connection, authority, proxy->authorization);
    if (!tunnelled) co_return wrap(std::move(tunnelled).error(), "proxy {}", raw.peer);
    raw.peer = fmt::format("{} through proxy {}", authority, raw.peer);
  }
  if (target.tls) {
    CO_TRY(raw.add_tls(target.tls, target.server_name.empty() ? target.host : target.server_name));
    CO_TRY(co_await raw.handshake());
  }
  co_return connection;
}

Result<std::optional<std::size_t>> Connection::try_read(std::span<char> into) {
  if (!state_->aborted.empty()) return state_->broken({}, "read from");
  errno = 0;
  return state_->tls ? state_->try_read_tls(into) : state_->try_read_plain(into);
}

Task<Result<void>> Connection::wait_readable() {
  return state_->wait(Wants::kRead, "read from");
}

Task<Result<void>> Connection::write_all(std::string_view bytes,
                                         std::function<Result<void>()> may_begin) {
  std::size_t written = 0;
  while (written < bytes.size()) {
    if (!state_->aborted.empty()) co_return state_->broken({}, "write to");
    if (written == 0 && may_begin) CO_TRY(may_begin());
    errno = 0;
    CO_TRY(const auto step, state_->try_write(bytes.substr(written)));
    written += step.first;
    if (step.second != Wants::kNothing) CO_TRY(co_await state_->wait(step.second, "write to"));
  }
  co_return Result<void>{};
}

bool Connection::usable() {
  if (!state_->aborted.empty()) return false;
  errno = 0;
  char byte = 0;
  if (!state_->tls)
    return ::recv(native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EWOULDBLOCK);
  // Takes in what is not data, such as a new session ticket or the server's goodbye.
  ERR_clear_error();
  std::size_t size = 0;
  const int result = SSL_peek_ex(state_->tls.get(), &byte, 1, &size);
  const bool alive = SSL_get_error(state_->tls.get(), result) == SSL_ERROR_WANT_READ;
  ERR_clear_error();
  return alive;
}

void Connection::abort(std::string why) {
  state_->aborted = std::move(why);
  error_code ignored;
  state_->socket.shutdown(tcp::socket::shutdown_both, ignored);
  state_->socket.cancel(ignored);
}

void Connection::interrupt() {
  error_code ignored;
  state_->socket.cancel(ignored);
}

bool Connection::resumed() const {
  return state_->tls && SSL_session_reused(state_->tls.get()) == 1;
}
int Connection::native_handle() const {
  return state_->socket.native_handle();
}
const std::string& Connection::peer() const {
  return state_->peer;
}

}  // namespace amdahl::kube
