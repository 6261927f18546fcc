#include "base/boxed.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "base/function_ref.hpp"

namespace amdahl {
namespace {

TEST_CASE("Boxed costs one pointer and nothing more while it is empty", "[L15]") {
  CHECK(sizeof(Boxed<std::string>) == sizeof(void*));
  Boxed<std::string> box;
  CHECK_FALSE(box);
  CHECK(box == Boxed<std::string>());
  box.emplace() = "x";
  CHECK(box.has_value());
  CHECK(*box == "x");
  box.reset();
  CHECK_FALSE(box.has_value());
}

TEST_CASE("Boxed copies deeply and compares by content") {
  Boxed<std::string> a(std::string("one"));
  Boxed<std::string> b = a;
  CHECK(a == b);
  *a = "two";
  CHECK(*b == "one");
  CHECK_FALSE(a == b);
  b = a;
  CHECK(b->size() == 3);
  a = Boxed<std::string>();
  CHECK_FALSE(a == b);
  const Boxed<std::string> moved = std::move(b);
  CHECK(*moved == "two");
}

TEST_CASE("function_ref calls what it refers to, and changes what that captured") {
  int calls = 0;
  const auto count = [&](int by) {
    calls += by;
    return calls;
  };
  const auto twice = [](function_ref<int(int)> call) { return call(1) + call(2); };
  CHECK(twice(count) == 1 + 3);
  CHECK(calls == 3);
  CHECK(twice([](int by) { return by; }) == 3);
}

}  // namespace
}  // namespace amdahl
