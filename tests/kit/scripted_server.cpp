#include "tests/kit/scripted_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <deque>
#include <optional>
#include <set>
#include <variant>

#include "tests/kit/script_steps.hpp"
#include "tests/kit/tls_identity.hpp"

namespace amdahl::testkit {
namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kRequestBytesMax = std::size_t{16} << 20;
constexpr std::size_t kZerosAtOnce = std::size_t{64} << 10;

}  // namespace

struct ScriptedServer::State : std::enable_shared_from_this<State> {
  State(asio::io_context& io, Clock& the_clock) : acceptor(io), clock(the_clock) {}

  struct Peer;
  tcp::acceptor acceptor;
  Clock& clock;
  std::deque<Script> scripts;
  std::optional<Script> always;
  std::vector<ReceivedRequest> requests;
  std::vector<SeenHandshake> handshakes;
  std::set<Peer*> peers;
  std::size_t connections = 0;
  std::uint64_t bytes_sent = 0;
  std::uint16_t port = 0;

  static Task<void> accept(std::shared_ptr<State> self);
  static Task<void> play(std::shared_ptr<State> self, tcp::socket socket, Script script);
  Script next_script();
};

// One connection while its script is played.
struct ScriptedServer::State::Peer {
  Peer(State& the_server, tcp::socket the_socket, std::size_t the_number)
      : server(the_server), socket(std::move(the_socket)), number(the_number) {
    server.peers.insert(this);
  }
  ~Peer() { server.peers.erase(this); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  State& server;
  tcp::socket socket;
  using Tls = asio::ssl::stream<tcp::socket&>;
  std::optional<Tls> tls;
  std::optional<asio::ssl::stream<Tls&>> inner_tls;  // of the server behind an https proxy
  std::vector<std::shared_ptr<TlsIdentity>> identities;
  std::size_t number = 0;
  std::string input;
  bool ended = false;  // the script is over for this connection
  bool start_again = false;

  Task<bool> read_more();
  Task<bool> write(std::string_view bytes);
  Task<bool> read_request();
  Task<bool> handshake();
  Task<bool> drain();
  void reset();

  Task<bool> run(const Step& step);
};

Task<bool> ScriptedServer::State::Peer::read_more() {
  char piece[16384];
  const auto buffer = asio::buffer(piece);
  auto [error, size] = inner_tls ? co_await inner_tls->async_read_some(buffer, kTuple)
                       : tls     ? co_await tls->async_read_some(buffer, kTuple)
                                 : co_await socket.async_read_some(buffer, kTuple);
  input.append(piece, size);
  co_return !error && input.size() <= kRequestBytesMax;
}

Task<bool> ScriptedServer::State::Peer::write(std::string_view bytes) {
  const auto buffer = asio::buffer(bytes.data(), bytes.size());
  auto [error, size] = inner_tls ? co_await asio::async_write(*inner_tls, buffer, kTuple)
                       : tls     ? co_await asio::async_write(*tls, buffer, kTuple)
                                 : co_await asio::async_write(socket, buffer, kTuple);
  server.bytes_sent += size;
  co_return !error;
}

Task<bool> ScriptedServer::State::Peer::read_request() {
  std::size_t end = 0;
  while ((end = input.find("\r\n\r\n")) == std::string::npos)
    if (!co_await read_more()) co_return false;
  ReceivedRequest request{.connection = number, .head = input.substr(0, end + 4)};
  input.erase(0, end + 4);
  const std::string& head = request.head;
  request.method = head.substr(0, head.find(' '));
  const auto target = request.method.size() + 1;
  request.target = head.substr(target, head.find(' ', target) - target);
  const std::string length = request.header("Content-Length");
  std::size_t wanted = 0;
  std::from_chars(length.data(), length.data() + length.size(), wanted);
  while (input.size() < wanted)
    if (!co_await read_more()) co_return false;
  request.body = input.substr(0, wanted);
  input.erase(0, wanted);
  server.requests.push_back(std::move(request));
  co_return true;
}

Task<bool> ScriptedServer::State::Peer::handshake() {
  auto& context = *identities.back()->context;
  const auto role = asio::ssl::stream_base::server;
  if (tls)
    inner_tls.emplace(*tls, context);
  else
    tls.emplace(socket, context);
  auto [error] = inner_tls ? co_await inner_tls->async_handshake(role, kTuple)
                           : co_await tls->async_handshake(role, kTuple);
  SSL* ssl = inner_tls ? inner_tls->native_handle() : tls->native_handle();
  const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  server.handshakes.push_back({.ok = !error,
                               .resumed = SSL_session_reused(ssl) == 1,
                               .client_certificate = SSL_get0_peer_certificate(ssl) != nullptr,
                               .server_name = name == nullptr ? "" : name});
  co_return !error;
}

// Waits until the client goes away, whatever it says meanwhile.
Task<bool> ScriptedServer::State::Peer::drain() {
  while (co_await read_more()) input.clear();
  co_return false;
}

void ScriptedServer::State::Peer::reset() {
  error_code ignored;
  socket.set_option(asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
  ended = true;
}

Task<bool> ScriptedServer::State::Peer::run(const Step& step) {
  if (std::holds_alternative<Expect>(step)) co_return co_await read_request();
  if (const auto* reply = std::get_if<Reply>(&step)) {
    if (!co_await read_request()) co_return false;
    co_return co_await write(reply->answer(server.requests.back()));
  }
  if (const auto* send = std::get_if<Send>(&step)) {
    const std::size_t piece = send->piece == 0 ? send->bytes.size() : send->piece;
    for (std::size_t at = 0; at < send->bytes.size(); at += piece)
      if (!co_await write(std::string_view(send->bytes).substr(at, piece))) co_return false;
    co_return true;
  }
  if (const auto* zeros = std::get_if<SendZeros>(&step)) {
    const std::string block(kZerosAtOnce, '0');
    for (std::uint64_t left = zeros->count; left > 0;) {
      const auto size = std::min<std::uint64_t>(left, block.size());
      if (!co_await write(std::string_view(block).substr(0, size))) co_return false;
      left -= size;
    }
    co_return true;
  }
  if (const auto* delay = std::get_if<Delay>(&step))
    co_return co_await server.clock.sleep_for(delay->time);
  if (const auto* wait = std::get_if<Wait>(&step)) co_await wait->gate->wait();
  if (const auto* call = std::get_if<Call>(&step)) call->function();
  if (const auto* start = std::get_if<StartTls>(&step)) {
    identities.push_back(start->identity);
    co_return co_await handshake();
  }
  if (std::holds_alternative<Close>(step)) ended = true;
  if (std::holds_alternative<Reset>(step)) reset();
  if (std::holds_alternative<Silence>(step)) co_return co_await drain();
  if (std::holds_alternative<Forever>(step)) start_again = true;
  co_return true;
}

Task<void> ScriptedServer::State::play(std::shared_ptr<State> self, tcp::socket socket,
                                       Script script) {
  Peer peer(*self, std::move(socket), self->connections++);
  error_code ignored;
  peer.socket.set_option(tcp::no_delay(true), ignored);
  const auto& steps = script.steps();
  for (std::size_t at = 0; at < steps.size() && !peer.ended; ++at) {
    if (!co_await peer.run(steps[at])) co_return;
    if (!peer.start_again) continue;
    peer.start_again = false;
    // The last step that is not repeated; the loop goes on behind it.
    while (at > 0 && !std::holds_alternative<StartTls>(steps[at])) --at;
    if (!std::holds_alternative<StartTls>(steps[at])) --at;
  }
  if (!peer.socket.is_open()) co_return;
  // A FIN first: closing a socket with unread input would send a reset instead.
  peer.socket.shutdown(tcp::socket::shutdown_send, ignored);
  co_await peer.drain();
}

Script ScriptedServer::State::next_script() {
  if (!scripts.empty()) {
    Script script = std::move(scripts.front());
    scripts.pop_front();
    return script;
  }
  return always ? *always : Script().reset();
}

Task<void> ScriptedServer::State::accept(std::shared_ptr<State> self) {
  for (;;) {
    auto [error, socket] = co_await self->acceptor.async_accept(kTuple);
    if (error) co_return;
    const auto executor = socket.get_executor();
    asio::co_spawn(executor, play(self, std::move(socket), self->next_script()), asio::detached);
  }
}

ScriptedServer::ScriptedServer(asio::io_context& io, Clock& clock)
    : state_(std::make_shared<State>(io, clock)) {
  const tcp::endpoint any(asio::ip::address_v4::loopback(), 0);
  state_->acceptor.open(any.protocol());
  state_->acceptor.bind(any);
  state_->acceptor.listen();
  state_->port = state_->acceptor.local_endpoint().port();
  asio::co_spawn(io, State::accept(state_), asio::detached);
}

ScriptedServer::~ScriptedServer() {
  error_code ignored;
  state_->acceptor.close(ignored);
  for (State::Peer* peer : state_->peers) peer->socket.close(ignored);
}

void ScriptedServer::play(Script script) {
  state_->scripts.push_back(std::move(script));
}
void ScriptedServer::play_always(Script script) {
  state_->always = std::move(script);
}
void ScriptedServer::refuse() {
  error_code ignored;
  state_->acceptor.close(ignored);
}

std::uint16_t ScriptedServer::port() const {
  return state_->port;
}
std::string ScriptedServer::address() const {
  return fmt::format("127.0.0.1:{}", port());
}
const std::vector<ReceivedRequest>& ScriptedServer::requests() const {
  return state_->requests;
}
const std::vector<SeenHandshake>& ScriptedServer::handshakes() const {
  return state_->handshakes;
}
std::size_t ScriptedServer::connections() const {
  return state_->connections;
}
std::size_t ScriptedServer::open_connections() const {
  return state_->peers.size();
}
std::uint64_t ScriptedServer::bytes_sent() const {
  return state_->bytes_sent;
}

}  // namespace amdahl::testkit
