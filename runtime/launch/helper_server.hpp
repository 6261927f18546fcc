// The unix socket on which the Python package and the hooks of this node's processes speak to the
// launcher.
//
// One line a message (helper_message.hpp); a line that is too long or no message costs its sender
// nothing but the line. Of many processes, the one with the lowest local rank speaks for the node;
// that a pause was heard is said by the lowest one that listens, since the steps before it count.
// A process may have a connection of each kind. Hooks only count: they neither lead connections of
// the package nor listen, and of hooks the one with the lowest local rank counts.
// Thread: one. Lifetime: run() has ended before it dies. Failure: without a socket nobody connects.
#pragma once

#include <boost/asio/local/stream_protocol.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/task.hpp"
#include "base/task_group.hpp"
#include "runtime/launch/helper_message.hpp"

namespace amdahl::launch {

class HelperServer {
 public:
  static constexpr std::size_t kConnectionsMax = 512;
  // A message, and whether its sender speaks for the node.
  using OnMessage = std::function<void(const HelperMessage&, bool leads)>;
  using OnChange = std::function<void()>;  // somebody began or ceased to listen

  // `tasks` runs one task a connection, and outlives this.
  HelperServer(TaskGroup& tasks, OnMessage on_message, OnChange on_change);

  // A path, or "@name" for the abstract namespace.
  Result<void> listen(const std::string& path);
  Task<void> run();
  // To everybody, and to who comes later; an empty line ends that.
  void say(std::string line);
  // The same for the interval between checkpoints, which stays true whatever else is said. Only
  // when it has changed: who never reads must not find its socket full of it.
  void say_interval(std::chrono::seconds interval);
  bool listening() const;  // somebody asks should_stop()
  std::uint64_t lines() const { return lines_; }
  std::uint64_t bad_lines() const { return bad_lines_; }

 private:
  using Protocol = boost::asio::local::stream_protocol;
  struct Connection {
    explicit Connection(Protocol::socket the_socket) : socket(std::move(the_socket)) {}
    Protocol::socket socket;
    std::int64_t local_rank = 0;
    bool spoke = false;  // one that has said nothing leads nobody
    bool hook = false;   // as its first line said
    bool listens = false;
  };

  Task<void> serve(std::uint64_t id);
  void read_lines(std::uint64_t id, std::string& text);
  void read_line(std::uint64_t id, std::string_view line);
  static bool introduce(Connection& connection, const HelperMessage& message);
  bool leads(std::uint64_t id, bool among_listeners) const;
  static void write(Connection& connection, const std::string& line);

  TaskGroup& tasks_;
  OnMessage on_message_;
  OnChange on_change_;
  Protocol::acceptor acceptor_;
  std::map<std::uint64_t, std::shared_ptr<Connection>> connections_;
  std::uint64_t next_id_ = 0;
  std::string said_;
  std::string interval_said_;
  std::uint64_t lines_ = 0;
  std::uint64_t bad_lines_ = 0;
};

}  // namespace amdahl::launch
