#include "checkpoint/store/http_connection.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http.hpp>

#include "base/deadline.hpp"
#include "base/resolver.hpp"
#include "checkpoint/store/blocking_run.hpp"
#include "checkpoint/store/store_call.hpp"

namespace amdahl::checkpoint {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using Parser = http::response_parser<http::buffer_body>;
using Buffers = std::vector<asio::const_buffer>;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kInputBytes = 2 * kAnswerHeadBytesMax;
constexpr std::size_t kSendBytesMax = std::size_t{1} << 20U;  // of one step

std::unexpected<Error> broken(const error_code& error, std::string_view doing) {
  if (error == asio::error::operation_aborted) return fail(Errc::kCancelled, "{}", doing);
  return fail(Errc::kIo, "{}: {}", doing, error.message());
}

// A certificate that does not fit will not fit the next time; all else may.
std::unexpected<Error> handshake_error(const error_code& error, const std::string& host) {
  if (error.category() == asio::error::get_ssl_category())
    return fail(Errc::kTls,
                "TLS with {}: {}; is its certificate for this name, and its authority "
                "trusted here?",
                host, error.message());
  return broken(error, "TLS with " + host);
}

}  // namespace

struct TlsTrust::State {
  asio::ssl::context context{asio::ssl::context::tls_client};
};

TlsTrust::TlsTrust() : state_(std::make_unique<State>()) {}
TlsTrust::~TlsTrust() = default;

Result<std::shared_ptr<TlsTrust>> TlsTrust::load(const std::string& ca_file) {
  auto trust = std::make_shared<TlsTrust>();
  asio::ssl::context& context = trust->state_->context;
  error_code error;
  context.set_options(
      asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1,
      error);
  context.set_verify_mode(asio::ssl::verify_peer);
  if (ca_file.empty())
    context.set_default_verify_paths(error);
  else
    context.load_verify_file(ca_file, error);
  if (error) return fail(Errc::kTls, "certificates {}: {}", ca_file, error.message());
  return trust;
}

struct HttpConnection::State {
  explicit State(Settings the_settings) : settings(std::move(the_settings)) {}

  Settings settings;
  asio::io_context io{1};
  tcp::socket socket{io};
  std::optional<asio::ssl::stream<tcp::socket&>> tls = {};
  std::vector<char> input = std::vector<char>(kInputBytes);
  std::size_t input_begin = 0;
  std::size_t input_end = 0;
  bool reusable = false;
  Monotonic idle_since = {};

  // A step that takes too long is a broken connection; only the call's own end is a time-out.
  template <class T>
  Task<Result<T>> step(Task<Result<T>> task, std::chrono::milliseconds time,
                       const StoreCall& call) {
    Clock& clock = settings.clock;
    const Monotonic until = std::min(call.deadline, clock.monotonic() + time);
    auto result = co_await with_deadline(clock, until, std::move(task), "HTTP");
    if (!result && result.error().code == Errc::kTimeout && clock.monotonic() < call.deadline)
      co_return fail(Errc::kIo, "no progress for {} ms", time.count());
    co_return result;
  }

  asio::const_buffer unparsed() const {
    return {input.data() + input_begin, input_end - input_begin};
  }

  Task<Result<void>> dial(const StoreCall& call);
  Task<Result<void>> connect_to(tcp::endpoint address);
  Task<Result<void>> shake_hands();
  Task<Result<void>> write(Buffers buffers);
  Task<Result<std::size_t>> read_some();
  Task<Result<void>> send(const StoreRequest& request, const std::string& head,
                          const StoreCall& call);
  Task<Result<bool>> fill_input(const StoreCall& call);
  Task<Result<void>> parse_head(std::optional<Parser>& parser, bool no_body, const StoreCall& call);
  Task<Result<void>> parse_body(Parser& parser, StoreAnswer& answer, std::span<std::byte> into,
                                const StoreCall& call);
  Task<Result<StoreAnswer>> receive(bool no_body, std::span<std::byte> into, const StoreCall& call);
  Task<Result<StoreAnswer>> exchange(const StoreRequest& request, const std::string& head,
                                     std::span<std::byte> into, const StoreCall& call);
};

Task<Result<void>> HttpConnection::State::connect_to(tcp::endpoint address) {
  error_code ignored;
  socket.close(ignored);
  auto [error] = co_await socket.async_connect(address, kTuple);
  if (error) co_return broken(error, "connect");
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  co_return Result<void>{};
}

Task<Result<void>> HttpConnection::State::shake_hands() {
  const std::string& host = settings.endpoint.host;
  tls.emplace(socket, settings.trust->state_->context);
  tls->set_verify_callback(asio::ssl::host_name_verification(host));
  error_code not_an_address;
  asio::ip::make_address(host, not_an_address);
  if (not_an_address) SSL_set_tlsext_host_name(tls->native_handle(), host.c_str());
  auto [error] = co_await tls->async_handshake(asio::ssl::stream_base::client, kTuple);
  if (error) co_return handshake_error(error, host);
  co_return Result<void>{};
}

Task<Result<void>> HttpConnection::State::dial(const StoreCall& call) {
  const Endpoint& endpoint = settings.endpoint;
  const auto time = settings.times.connect;
  Clock& clock = settings.clock;
  const Monotonic until = std::min(call.deadline, clock.monotonic() + time);
  const auto found = co_await resolve(clock, {endpoint.host}, {}, until);
  if (found[0].empty()) co_return fail(Errc::kIo, "no address for {}", endpoint.host);
  Result<void> connected = fail(Errc::kIo, "not tried");
  for (const asio::ip::address& address : found[0]) {
    connected = co_await step(connect_to({address, endpoint.port}), time, call);
    if (connected || connected.error().code != Errc::kIo) break;
  }
  if (connected && endpoint.tls) connected = co_await step(shake_hands(), time, call);
  co_return connected;
}

Task<Result<void>> HttpConnection::State::write(Buffers buffers) {
  error_code error;
  if (tls)
    std::tie(error, std::ignore) = co_await asio::async_write(*tls, buffers, kTuple);
  else
    std::tie(error, std::ignore) = co_await asio::async_write(socket, buffers, kTuple);
  if (error) co_return broken(error, "send");
  co_return Result<void>{};
}

Task<Result<std::size_t>> HttpConnection::State::read_some() {
  const auto buffer = asio::buffer(input.data() + input_end, input.size() - input_end);
  error_code error;
  std::size_t got = 0;
  if (tls)
    std::tie(error, got) = co_await tls->async_read_some(buffer, kTuple);
  else
    std::tie(error, got) = co_await socket.async_read_some(buffer, kTuple);
  const bool ended = error == asio::error::eof || error == asio::ssl::error::stream_truncated;
  if (error && !ended) co_return broken(error, "receive");
  co_return got;
}

Task<Result<void>> HttpConnection::State::send(const StoreRequest& request, const std::string& head,
                                               const StoreCall& call) {
  Buffers buffers{asio::buffer(head)};
  std::size_t bytes = head.size();
  for (Bytes piece : request.body) {
    while (!piece.empty()) {
      const Bytes part = piece.first(std::min(piece.size(), kSendBytesMax - bytes));
      buffers.emplace_back(part.data(), part.size());
      bytes += part.size();
      piece = piece.subspan(part.size());
      if (bytes < kSendBytesMax) continue;
      CO_TRY(co_await step(write(std::exchange(buffers, {})), settings.times.progress, call));
      bytes = 0;
    }
  }
  if (buffers.empty()) co_return Result<void>{};
  co_return co_await step(write(std::move(buffers)), settings.times.progress, call);
}

// False: the server sends no more.
Task<Result<bool>> HttpConnection::State::fill_input(const StoreCall& call) {
  std::memmove(input.data(), input.data() + input_begin, input_end - input_begin);
  input_end -= std::exchange(input_begin, 0);
  if (input_end == input.size())
    co_return fail(Errc::kTooLarge, "a head of more than {} bytes", kAnswerHeadBytesMax);
  CO_TRY(const std::size_t got, co_await step(read_some(), settings.times.progress, call));
  input_end += got;
  co_return got > 0;
}

Task<Result<void>> HttpConnection::State::parse_head(std::optional<Parser>& parser, bool no_body,
                                                     const StoreCall& call) {
  do {  // 1xx are not the answer
    parser.emplace();
    parser->header_limit(kAnswerHeadBytesMax);
    parser->body_limit(boost::none);
    parser->skip(no_body);
    while (!parser->is_header_done()) {
      error_code error;
      input_begin += parser->put(unparsed(), error);
      if (error && error != http::error::need_more)
        co_return fail(Errc::kCorrupt, "the answer is no HTTP: {}", error.message());
      if (parser->is_header_done()) break;
      CO_TRY(const bool more, co_await fill_input(call));
      if (!more) co_return fail(Errc::kIo, "the server closed the connection without an answer");
    }
  } while (parser->get().result_int() < 200);
  co_return Result<void>{};
}

Task<Result<void>> HttpConnection::State::parse_body(Parser& parser, StoreAnswer& answer,
                                                     std::span<std::byte> into,
                                                     const StoreCall& call) {
  std::array<char, 16 << 10> text{};
  const std::size_t text_max = into.empty() ? kAnswerBytesMax : 0;
  auto& body = parser.get().body();
  while (!parser.is_done()) {
    const std::span<std::byte> rest = into.subspan(answer.filled);
    // Also a full buffer gets some room, to notice a body that is too long.
    body.data = rest.empty() ? static_cast<void*>(text.data()) : rest.data();
    const std::size_t room = body.size = rest.empty() ? text.size() : rest.size();
    error_code error;
    const std::size_t taken = parser.put(unparsed(), error);
    input_begin += taken;
    const std::size_t got = room - body.size;
    if (rest.empty()) answer.body.append(text.data(), got);
    if (!rest.empty()) answer.filled += got;
    if (answer.body.size() > text_max)
      co_return fail(Errc::kTooLarge, "an answer of more than {} bytes",
                     into.empty() ? text_max : into.size());
    if (error && error != http::error::need_more && error != http::error::need_buffer)
      co_return fail(Errc::kCorrupt, "the answer is no HTTP: {}", error.message());
    if (parser.is_done() || taken > 0) continue;
    CO_TRY(const bool more, co_await fill_input(call));
    if (more) continue;
    parser.put_eof(error);
    if (error || !parser.is_done())
      co_return fail(Errc::kIo, "the server closed the connection within an answer");
  }
  co_return Result<void>{};
}

Task<Result<StoreAnswer>> HttpConnection::State::receive(bool no_body, std::span<std::byte> into,
                                                         const StoreCall& call) {
  std::optional<Parser> parser;
  CO_TRY(co_await parse_head(parser, no_body, call));
  const auto& message = parser->get();
  StoreAnswer answer{.status = static_cast<int>(message.result_int())};
  for (const auto& field : message)
    answer.fields.push_back({std::string(field.name_string()), std::string(field.value())});
  const bool wanted = answer.status == 200 || answer.status == 206;
  CO_TRY(co_await parse_body(*parser, answer, wanted ? into : std::span<std::byte>(), call));
  reusable = message.keep_alive() && input_begin == input_end;
  co_return answer;
}

Task<Result<StoreAnswer>> HttpConnection::State::exchange(const StoreRequest& request,
                                                          const std::string& head,
                                                          std::span<std::byte> into,
                                                          const StoreCall& call) {
  Result<void> sent = co_await send(request, head, call);
  if (!sent && sent.error().code != Errc::kIo)
    co_return std::unexpected<Error>(std::move(sent).error());
  // A server that refuses a request may answer and close before it has read all of it.
  auto answer = co_await receive(request.method == "HEAD", into, call);
  if (sent) co_return answer;
  reusable = false;
  if (answer && answer->status >= 300) co_return answer;
  co_return std::unexpected<Error>(std::move(sent).error());
}

HttpConnection::HttpConnection(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpConnection::~HttpConnection() = default;

Result<std::unique_ptr<HttpConnection>> HttpConnection::open(Settings settings,
                                                             const StoreCall& call) {
  const std::string url = url_of(settings.endpoint);
  std::unique_ptr<HttpConnection> connection(
      new HttpConnection(std::make_unique<State>(std::move(settings))));
  State& state = *connection->state_;
  auto dialled = run_blocking(state.io, state.dial(call), call.stop);
  if (!dialled) return wrap(std::move(dialled).error(), "{}", url);
  return connection;
}

Result<StoreAnswer> HttpConnection::exchange(const StoreRequest& request, std::span<std::byte> into,
                                             const StoreCall& call) {
  TRY(const std::string head, render_head(endpoint(), request));
  State& state = *state_;
  state.reusable = false;
  auto answer = run_blocking(state.io, state.exchange(request, head, into, call), call.stop);
  state.idle_since = state.settings.clock.monotonic();
  if (!answer) return wrap(std::move(answer).error(), "{}", url_of(endpoint()));
  return answer;
}

bool HttpConnection::usable() {
  if (!state_->reusable) return false;
  char byte = 0;
  const ssize_t got = ::recv(state_->socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

const Endpoint& HttpConnection::endpoint() const {
  return state_->settings.endpoint;
}

Monotonic HttpConnection::idle_since() const {
  return state_->idle_since;
}

}  // namespace amdahl::checkpoint
