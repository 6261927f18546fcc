#include "runtime/launch/helper_server.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace amdahl::launch {

namespace asio = boost::asio;
using boost::system::error_code;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

HelperServer::HelperServer(TaskGroup& tasks, OnMessage on_message, OnChange on_change)
    : tasks_(tasks),
      on_message_(std::move(on_message)),
      on_change_(std::move(on_change)),
      acceptor_(tasks.executor()) {}

Result<void> HelperServer::listen(const std::string& path) {
  constexpr std::size_t kPathMax = 107;  // what sun_path holds
  if (path.size() > kPathMax) return fail(Errc::kInvalid, "socket {}: the path is too long", path);
  std::string name = path;
  const bool abstract = path.starts_with('@');
  if (abstract) name[0] = '\0';
  if (!abstract) ::unlink(path.c_str());  // of a container that was restarted in place
  error_code error;
  acceptor_.open(Protocol(), error);
  if (!error) acceptor_.bind(Protocol::endpoint(name), error);
  // The trainer may run as another user of this container.
  if (!error && !abstract) ::chmod(path.c_str(), 0666);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) return fail(Errc::kIo, "socket {}: {}", path, error.message());
  return {};
}

Task<void> HelperServer::run() {
  while (acceptor_.is_open()) {
    auto [error, socket] = co_await acceptor_.async_accept(kTuple);
    if (error == asio::error::operation_aborted) break;
    if (error || connections_.size() >= kConnectionsMax) continue;
    socket.non_blocking(true, error);
    const std::uint64_t id = next_id_++;
    connections_.emplace(id, std::make_shared<Connection>(std::move(socket)));
    tasks_.spawn("helper", serve(id));
  }
}

Task<void> HelperServer::serve(std::uint64_t id) {
  const std::shared_ptr<Connection> connection = connections_.at(id);
  for (const std::string* line : {&interval_said_, &said_})
    if (!line->empty()) write(*connection, *line);
  std::array<char, 4096> buffer;
  std::string text;
  for (;;) {
    auto [error, size] = co_await connection->socket.async_read_some(asio::buffer(buffer), kTuple);
    if (error) break;
    text.append(buffer.data(), size);
    read_lines(id, text);
  }
  connections_.erase(id);
  if (connection->listens) on_change_();
}

void HelperServer::read_lines(std::uint64_t id, std::string& text) {
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    read_line(id, std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
  text.erase(0, begin);
  if (text.size() > kHelperLineBytesMax) {  // its end, when it comes, is one more bad line
    ++bad_lines_;
    text.clear();
  }
}

bool HelperServer::leads(std::uint64_t id, bool among_listeners) const {
  const std::int64_t own = connections_.at(id)->local_rank;
  const bool hook = connections_.at(id)->hook;
  for (const auto& [other, connection] : connections_) {
    if (!connection->spoke || connection->hook != hook) continue;
    if (among_listeners && !connection->listens) continue;
    if (connection->local_rank < own || (connection->local_rank == own && other < id)) return false;
  }
  return true;
}

// False for what a connection of its kind does not say.
bool HelperServer::introduce(Connection& connection, const HelperMessage& message) {
  const bool hello = message.kind == HelperKind::kHello;
  if (!std::exchange(connection.spoke, true)) connection.hook = hello && message.hook;
  if (hello && message.local_rank) connection.local_rank = *message.local_rank;
  return hello || connection.hook == (message.kind == HelperKind::kHook);
}

void HelperServer::read_line(std::uint64_t id, std::string_view line) {
  ++lines_;
  const auto message = read_helper_line(line);
  Connection& connection = *connections_.at(id);
  if (!message || !introduce(connection, *message)) {
    ++bad_lines_;
    return;
  }
  if (message->kind == HelperKind::kListening && !connection.listens) {
    connection.listens = true;
    on_change_();
  }
  on_message_(*message, leads(id, message->kind == HelperKind::kHeard));
}

bool HelperServer::listening() const {
  for (const auto& [id, connection] : connections_)
    if (connection->listens) return true;
  return false;
}

void HelperServer::say(std::string line) {
  said_ = std::move(line);
  if (said_.empty()) return;
  for (const auto& [id, connection] : connections_)
    if (!connection->hook) write(*connection, said_);  // hooks never read
}

void HelperServer::say_interval(std::chrono::seconds interval) {
  std::string line = interval_line(interval);
  if (line == interval_said_) return;
  interval_said_ = std::move(line);
  for (const auto& [id, connection] : connections_)
    if (!connection->hook) write(*connection, interval_said_);
}

// A few bytes to a process that reads now and then: there is room, or it has not read for hundreds
// of lines and does not listen.
void HelperServer::write(Connection& connection, const std::string& line) {
  error_code ignored;
  connection.socket.write_some(asio::buffer(line), ignored);
}

}  // namespace amdahl::launch
