// Text cut to a number of bytes without cutting a character in two.
//
// Pure. Bytes that are no UTF-8 are cut anywhere. Failure: none.
#pragma once

#include <cstddef>
#include <string_view>

namespace amdahl::launch {

constexpr std::string_view cut_utf8(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  constexpr std::size_t kContinuationsMax = 3;
  std::size_t end = bytes_max;
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  for (std::size_t back = 0; back < kContinuationsMax && end > 0 && continues(end); ++back) --end;
  return text.substr(0, continues(end) ? bytes_max : end);
}

constexpr std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace amdahl::launch
