// What parses is written in a canonical form that means the same.
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "operator/kube/selector.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using amdahl::kube::Selector;
  const auto selector = Selector::parse({reinterpret_cast<const char*>(data), size});
  if (!selector) return 0;
  const auto again = Selector::parse(selector->to_string());
  AMDAHL_CHECK(again.has_value());
  AMDAHL_CHECK(again->to_string() == selector->to_string());
  const amdahl::PackedMap labels{{"a", "b"}, {"c", ""}, {"n", "7"}};
  AMDAHL_CHECK(again->matches(labels) == selector->matches(labels));
  return 0;
}
