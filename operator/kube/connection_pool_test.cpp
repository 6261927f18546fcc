#include "operator/kube/connection_pool.hpp"

#include <catch2/catch.hpp>

#include "operator/kube/test_http_fixture.hpp"

namespace amdahl::kube {
namespace {

using namespace std::chrono_literals;
using testkit::http_ok;
using testkit::Script;

TEST_CASE("Idle connections are closed after their time") {
  TransportFixture fixture;
  fixture.options.pool.idle_max = 1ms;
  fixture.server.play_always(Script().expect().send(http_ok("{}")).forever());
  REQUIRE(fixture.send(get_pod()));
  run_until_complete(fixture.io, fixture.clock.sleep_for(5ms));
  REQUIRE(fixture.send(get_pod()));
  CHECK(fixture.server.connections() == 2);
}

TEST_CASE("Idle connections are closed in time although no request follows") {
  boost::asio::io_context io;
  RealClock server_clock;
  ManualClock clock;  // counts who sleeps on it
  testkit::ScriptedServer server(io, server_clock);
  server.play_always(Script().expect().send(http_ok("{}")).forever());
  HttpTransport transport(io.get_executor(), clock,
                          {.server = *parse_url("http://" + server.address())});
  const auto get = [&](Lane lane) {
    Request request = get_pod();
    request.lane = lane;
    REQUIRE(run_until_complete(io, transport.send(std::move(request), clock.monotonic() + 5s)));
  };
  const auto turn = [&] { run_until_complete(io, server_clock.sleep_for(10ms)); };
  CHECK(clock.sleepers() == 0);
  get(Lane::kDefault);
  turn();
  CHECK(clock.sleepers() == 1);
  clock.advance(kIdleMax / 2);
  turn();
  get(Lane::kLease);
  get(Lane::kLease);
  CHECK(transport.idle_connections() == 2);
  turn();
  CHECK(clock.sleepers() == 1);  // one timer, however many connections

  clock.advance(kIdleMax / 2);
  turn();
  CHECK(transport.idle_connections() == 1);
  CHECK(server.open_connections() == 1);
  CHECK(clock.sleepers() == 1);
  clock.advance(kIdleMax / 2);
  turn();
  CHECK(transport.idle_connections() == 0);
  CHECK(server.open_connections() == 0);
  CHECK(clock.sleepers() == 0);  // and none when there is nothing to wait for

  get(Lane::kDefault);
  CHECK(transport.idle_connections() == 1);
  turn();
  CHECK(clock.sleepers() == 1);
}

}  // namespace
}  // namespace amdahl::kube
