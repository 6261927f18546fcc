#include "base/resolver.hpp"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "base/task_group.hpp"

using namespace amdahl;
using namespace std::chrono_literals;

TEST_CASE("find_in_hosts reads a hosts file") {
  const std::string_view hosts =
      "# names\n10.0.0.1 a-0.a a-0\n\nbad a-1.a\n fd00::2\ta-1.a # a-2.a\n10.0.0.3 a-1.a";
  CHECK(find_in_hosts(hosts, "a-0").size() == 1);
  REQUIRE(find_in_hosts(hosts, "a-1.a").size() == 2);
  CHECK(find_in_hosts(hosts, "a-1.a")[0].to_string() == "fd00::2");
  CHECK(find_in_hosts(hosts, "a-2.a").empty());
  CHECK(find_in_hosts("", "a").empty());
  CHECK(find_in_hosts("10.0.0.1", "a").empty());
}

TEST_CASE("resolve answers addresses and localhost without asking anybody") {
  boost::asio::io_context io;
  RealClock clock;
  const auto found = run_until_complete(
      io, resolve(clock, {"127.0.0.1", "::1", "localhost"}, "", clock.monotonic() + 5s));
  REQUIRE(found.size() == 3);
  CHECK(found[0].at(0).to_string() == "127.0.0.1");
  CHECK(found[1].at(0).to_string() == "::1");
  CHECK(found[2].at(0).is_loopback());
}

TEST_CASE("resolve ends at its deadline") {
  boost::asio::io_context io;
  RealClock clock;
  const Monotonic start = clock.monotonic();
  const auto found =
      run_until_complete(io, resolve(clock, {"no-such-name.invalid"}, "", start + 300ms));
  CHECK(found.at(0).empty());
  CHECK(clock.monotonic() - start < 3s);
}
