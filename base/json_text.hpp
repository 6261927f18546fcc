// Small questions about JSON text that need no parser. Sans-IO, internal to json_reader.cpp.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/json_reader.hpp"

namespace amdahl::json_text {

// Without the white space at the end.
std::string_view trim_end(std::string_view text);
// What a token starts; a token is a scalar or an opening bracket.
JsonKind kind_of(std::string_view token);
// Whether a key may stand in a path without quotes.
bool plain_key(std::string_view key);
// Counted before a tree is built, because building and freeing one may recurse.
bool nested_deeper_than(std::string_view json, int limit);

// The first quote or backslash, eight bytes at a time; `end` when there is none. Keys and most
// values are shorter than what makes a call of memchr pay.
inline const char* find_quote_or_escape(const char* at, const char* end) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  const auto zero_bytes = [](std::uint64_t word) { return (word - kOnes) & ~word & kHighBits; };
  static_assert(std::endian::native == std::endian::little);
  for (; end - at >= 8; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof(word));
    const std::uint64_t hits = zero_bytes(word ^ (kOnes * '"')) | zero_bytes(word ^ (kOnes * '\\'));
    if (hits != 0) return at + std::countr_zero(hits) / 8;
  }
  while (at != end && *at != '"' && *at != '\\') ++at;
  return at;
}

}  // namespace amdahl::json_text
