#include "base/result.hpp"

#include <catch2/catch.hpp>

namespace amdahl {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return fail(Errc::kInvalid, "{} is odd", value);
  return value / 2;
}

Result<int> quarter(int value) {
  TRY(const int once, half(value));
  TRY(const int twice, half(once));
  return twice;
}

Result<void> must_be_even(int value) {
  TRY(half(value));
  return {};
}

TEST_CASE("TRY binds a value or returns the error unchanged") {
  REQUIRE(quarter(8));
  CHECK(*quarter(8) == 2);
  REQUIRE_FALSE(quarter(6));
  CHECK(quarter(6).error().context == "3 is odd");
  CHECK(must_be_even(2));
  CHECK(must_be_even(3).error().code == Errc::kInvalid);
}

TEST_CASE("wrap puts the outer attempt before the cause and keeps the code") {
  const Result<int> wrapped = wrap(quarter(6).error(), "share {} apples", 6);
  CHECK(wrapped.error().context == "share 6 apples: 3 is odd");
  CHECK(wrapped.error().code == Errc::kInvalid);
}

TEST_CASE("Every error code has a name of its own") {
  CHECK(name(Errc::kNotFound) == "not_found");
  CHECK(name(Errc::kTerminal) == "terminal");
}

}  // namespace
}  // namespace amdahl
