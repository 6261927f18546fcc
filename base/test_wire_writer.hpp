// Writes protocol buffers by hand, for tests of what reads them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace amdahl {

class WireWriter {
 public:
  WireWriter& varint(std::uint32_t field, std::uint64_t value) {
    put(std::uint64_t{field} << 3U);
    put(value);
    return *this;
  }
  WireWriter& integer(std::uint32_t field, std::int64_t value) {
    return varint(field, static_cast<std::uint64_t>(value));
  }
  WireWriter& text(std::uint32_t field, std::string_view value) {
    put(std::uint64_t{field} << 3U | 2U);
    put(value.size());
    bytes_ += value;
    return *this;
  }
  WireWriter& message(std::uint32_t field, const WireWriter& nested) {
    return text(field, nested.bytes_);
  }
  WireWriter& entry(std::uint32_t field, std::string_view key, std::string_view value) {
    return message(field, WireWriter().text(1, key).text(2, value));
  }
  WireWriter& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void put(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) bytes_ += static_cast<char>(value | 0x80U);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace amdahl
