#include "runtime/launch/helper_server.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/task_group.hpp"

namespace amdahl::launch {
namespace {
using namespace std::chrono_literals;
using Socket = boost::asio::local::stream_protocol::socket;

struct Heard {
  HelperKind kind = HelperKind::kHello;
  std::optional<std::int64_t> step = {};
  bool leads = false;
};

// A server, and processes that speak to it. say() returns when the server has read the line.
struct Site {
  Site() {
    REQUIRE(server.listen(path));
    tasks.spawn("server", server.run());
  }
  ~Site() {
    tasks.stop();
    RealClock clock;
    CHECK(run_until_complete(io, tasks.join(clock, clock.monotonic() + 10s)));
  }

  std::size_t connect(const std::string& hello) {
    sockets.emplace_back(io);
    std::string name = path;
    name[0] = '\0';
    sockets.back().connect(boost::asio::local::stream_protocol::endpoint(name));
    say(sockets.size() - 1, hello);
    return sockets.size() - 1;
  }
  void say(std::size_t process, const std::string& line) {
    const std::uint64_t before = server.lines();
    boost::asio::write(sockets[process], boost::asio::buffer(line + "\n"));
    while (server.lines() == before) REQUIRE(io.run_one_for(10s) == 1);
  }
  // Whether what a process says next is taken as the word of the node.
  bool leads(std::size_t process, const std::string& line) {
    const std::size_t before = heard.size();
    say(process, line);
    return heard.size() > before && heard.back().leads;
  }

  const std::string path = fmt::format("@amdahl-helper-test-{}", ::getpid());
  boost::asio::io_context io;
  TaskGroup tasks{io.get_executor()};
  std::vector<Heard> heard;
  int changes = 0;
  HelperServer server{tasks,
                      [this](const HelperMessage& message, bool leads) {
                        heard.push_back({message.kind, message.step, leads});
                      },
                      [this] { ++changes; }};
  std::deque<Socket> sockets;
};

std::string hook_of(int local_rank) {
  return fmt::format(R"({{"type":"hello","hook":true,"localRank":{}}})", local_rank);
}
std::string package_of(int local_rank) {
  return fmt::format(R"({{"type":"hello","localRank":{}}})", local_rank);
}
const std::string kStep = R"({"type":"hook","step":7})";
const std::string kState = R"({"type":"state","step":3})";

TEST_CASE("HelperServer: a hook that came first does not speak for the package", "[D8]") {
  Site site;
  const std::size_t hook = site.connect(hook_of(0));
  const std::size_t package = site.connect(package_of(0));
  CHECK(site.leads(hook, kStep));
  CHECK(site.heard.back().step == 7);
  CHECK(site.leads(package, kState));
  const std::size_t other = site.connect(package_of(1));
  CHECK_FALSE(site.leads(other, kState));
}

TEST_CASE("HelperServer: of hooks the lowest local rank counts", "[D8]") {
  Site site;
  const std::size_t second = site.connect(hook_of(1));
  CHECK(site.leads(second, kStep));
  const std::size_t package = site.connect(package_of(0));
  CHECK(site.leads(second, kStep));  // a package is no hook
  const std::size_t first = site.connect(hook_of(0));
  CHECK(site.leads(first, kStep));
  CHECK_FALSE(site.leads(second, kStep));
  CHECK(site.leads(package, kState));
}

TEST_CASE("HelperServer: a hook neither listens nor says what only the package says", "[D8]") {
  Site site;
  const std::size_t hook = site.connect(hook_of(0));
  const std::size_t said = site.heard.size();
  for (const char* line : {R"({"type":"listening"})", R"({"type":"heard"})",
                           R"({"type":"committed","step":9,"path":"/c"})", R"({"type":"state"})"})
    site.say(hook, line);
  CHECK(site.heard.size() == said);
  CHECK(site.server.bad_lines() == 4);
  CHECK_FALSE(site.server.listening());
  CHECK(site.changes == 0);
  const std::size_t package = site.connect(package_of(0));
  site.say(package, R"({"type":"listening"})");
  CHECK(site.server.listening());
  site.say(package, kStep);  // nor does a package count as a hook
  CHECK(site.server.bad_lines() == 5);
  site.say(package, hook_of(0));  // or become one
  CHECK(site.server.listening());
  CHECK(site.leads(package, kState));
}

TEST_CASE("HelperServer: a connection that has said nothing leads nobody", "[D8]") {
  Site site;
  site.sockets.emplace_back(site.io);
  std::string name = site.path;
  name[0] = '\0';
  site.sockets.back().connect(boost::asio::local::stream_protocol::endpoint(name));
  const std::size_t package = site.connect(package_of(1));
  CHECK(site.leads(package, kState));
}

}  // namespace
}  // namespace amdahl::launch
