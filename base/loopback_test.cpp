#include "base/loopback.hpp"

#include <catch2/catch.hpp>

namespace amdahl {
namespace {

TEST_CASE("Loopback is an address of this machine or localhost, and no name that looks like one",
          "[A10]") {
  for (const char* host :
       {"127.0.0.1", "127.255.255.254", "localhost", "::1", "[::1]", "0:0:0:0:0:0:0:1"})
    CHECK(is_loopback_host(host));
  for (const char* host : {"127.evil.com", "127.0.0.1.evil.com", "127.", "127.0.0.1 ", "127.1",
                           "localhost.evil.com", "LOCALHOST.", "", "[]", "[", "0.0.0.0",
                           "::", "::ffff:10.0.0.1", "10.0.0.1", "128.0.0.1", "1::1", "evil.com"})
    CHECK_FALSE(is_loopback_host(host));
  CHECK_FALSE(is_loopback_host(std::string_view("127.0.0.1\0.evil.com", 19)));
}

}  // namespace
}  // namespace amdahl
