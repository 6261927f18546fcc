#include "operator/kube/dial.hpp"

#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <vector>

#include "base/task_group.hpp"
#include "tests/kit/scripted_server.hpp"

namespace amdahl::kube {
namespace {

using namespace std::chrono_literals;
using testkit::Script;

// A port of this machine that lets no handshake finish: its line of waiting connections is full.
class DeafPort {
 public:
  explicit DeafPort(boost::asio::io_context& io) : listener_(io) {
    using boost::asio::ip::tcp;
    const tcp::endpoint any(boost::asio::ip::address_v4::loopback(), 0);
    listener_.open(any.protocol());
    listener_.bind(any);
    listener_.listen(0);
    for (int i = 0; i < 8; ++i) {
      auto& socket = waiting_.emplace_back(io, any.protocol());
      socket.native_non_blocking(true);
      // Not Asio's connect, which would wait for the answer.
      (void)::connect(socket.native_handle(), endpoint().data(), endpoint().size());
    }
  }
  boost::asio::ip::tcp::endpoint endpoint() const { return listener_.local_endpoint(); }

 private:
  boost::asio::ip::tcp::acceptor listener_;
  std::vector<boost::asio::ip::tcp::socket> waiting_;
};

TEST_CASE("An address that never answers costs its own timeout, and the next one is tried",
          "[L8]") {
  boost::asio::io_context io;
  RealClock clock;
  testkit::ScriptedServer server(io, clock);
  server.play_always(Script().silence());
  const DeafPort deaf(io);
  const boost::asio::ip::tcp::endpoint good(boost::asio::ip::address_v4::loopback(), server.port());

  const Monotonic start = clock.monotonic();
  const auto socket =
      run_until_complete(io, dial_any("api", {deaf.endpoint(), good}, clock, 100ms));
  REQUIRE(socket);
  CHECK(socket->remote_endpoint() == good);
  CHECK(clock.monotonic() - start >= 100ms);
  CHECK(clock.monotonic() - start < 5s);

  const auto none =
      run_until_complete(io, dial_any("api", {deaf.endpoint(), deaf.endpoint()}, clock, 50ms));
  REQUIRE_FALSE(none);
  CHECK(none.error().code == Errc::kIo);  // not kTimeout: the call itself may have time left
  CHECK(none.error().context ==
        fmt::format("api: 2 addresses tried, last connect 127.0.0.1:{}: no answer in 0.05s",
                    deaf.endpoint().port()));
}

}  // namespace
}  // namespace amdahl::kube
