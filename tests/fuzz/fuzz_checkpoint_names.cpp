// What parses has one spelling.
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "checkpoint/format/names.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto name = amdahl::checkpoint::parse_name(text))
    AMDAHL_CHECK(amdahl::checkpoint::write_name(*name) == text);
  return 0;
}
