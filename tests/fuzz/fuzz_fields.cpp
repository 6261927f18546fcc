// JSON of every kind: what decodes is encoded to a text that decodes to the same.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/check.hpp"
#include "base/json_decode.hpp"
#include "base/json_encode.hpp"
#include "tests/fuzz/tables.hpp"

namespace {

struct RoundTrip {
  std::string_view text;

  template <class Kind>
  void operator()() const {
    const auto object = amdahl::decode<Kind>(text);
    if (!object) return;
    const amdahl::Json once = amdahl::encode(*object);
    const auto again = amdahl::decode<Kind>(once.dump());
    AMDAHL_CHECK(again.has_value());
    AMDAHL_CHECK(amdahl::encode(*again) == once);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  amdahl::fuzz::with_kind(data[0], RoundTrip{{reinterpret_cast<const char*>(data) + 1, size - 1}});
  return 0;
}
