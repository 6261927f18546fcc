// What parses is written in a form that parses to the same amount.
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "operator/kube/quantity.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using amdahl::kube::Quantity;
  const auto amount = Quantity::parse({reinterpret_cast<const char*>(data), size});
  if (!amount) return 0;
  const auto again = Quantity::parse(amount->to_string());
  AMDAHL_CHECK(again.has_value());
  AMDAHL_CHECK(*again == *amount);
  AMDAHL_CHECK(*amount + *amount - *amount == *amount || amount->value() > (INT64_MAX >> 1U) ||
               amount->value() < -(INT64_MAX >> 1U));
  return 0;
}
