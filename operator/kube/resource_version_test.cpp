#include "operator/kube/resource_version.hpp"

#include <catch2/catch.hpp>

namespace amdahl::kube {
namespace {

TEST_CASE("Versions compare by length, then by digits", "[W2]") {
  CHECK(is_older("9", "10"));
  CHECK(is_older("99999999999999999999", "100000000000000000000"));  // beyond 64 bits
  CHECK(is_older("340282366920938463463374607431768211454",
                 "340282366920938463463374607431768211455"));
  CHECK_FALSE(is_older("10", "10"));
  CHECK_FALSE(is_older("11", "10"));
  CHECK(*compare_versions("7", "7") == std::strong_ordering::equal);
}

TEST_CASE("What is not a version compares with nothing", "[W2]") {
  for (const char* bad :
       {"", "0", "007", "12a", "-1", " 1", "1.5", "1234567890123456789012345678901234567890"}) {
    INFO(bad);
    CHECK_FALSE(is_version(bad));
    CHECK_FALSE(compare_versions(bad, "5"));
    CHECK_FALSE(is_older(bad, "5"));
    CHECK_FALSE(is_older("5", bad));
  }
}

}  // namespace
}  // namespace amdahl::kube
