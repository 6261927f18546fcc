#include "base/descriptor_limit.hpp"

#include <sys/resource.h>

#include <catch2/catch.hpp>

namespace amdahl {
namespace {

TEST_CASE("The limit of descriptors is raised to the hard one", "[A6]") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit low{.rlim_cur = 200, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  CHECK(descriptor_limit() == 200);
  const std::size_t raised = raise_descriptor_limit();
  rlimit after{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &after) == 0);
  CHECK(after.rlim_cur == before.rlim_max);
  CHECK(raised == descriptor_limit());
  CHECK(raised > 200);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
}

}  // namespace
}  // namespace amdahl
