// What was found out about bearer tokens, remembered briefly.
//
// Tokens are kept and compared only as SHA-256, in constant time. Known and refused ones are apart,
// so that a flood of wrong tokens does not push right ones out. Thread: one. Lifetime: the clock
// outlives it; what find() gives lives until the next keep(). Failure: none.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "operator/controller/bounded_cache.hpp"

namespace amdahl::controller {

using TokenDigest = std::array<unsigned char, 32>;
// Of the token, and of what it was asked for, if that matters.
TokenDigest token_digest(std::string_view token, std::string_view purpose = "");
bool same_digest(const TokenDigest& a, const TokenDigest& b);  // in constant time

struct TokenMemoryOptions {
  std::size_t entries_max = 256;  // of each sort
  std::chrono::nanoseconds known_for = std::chrono::seconds{60};
  std::chrono::nanoseconds refused_for = std::chrono::seconds{10};
};

template <class Value>
class TokenMemory {
 public:
  TokenMemory(Clock& clock, TokenMemoryOptions options)
      : clock_(clock),
        options_(options),
        known_(options.entries_max),
        refused_(options.entries_max) {}

  // Null: nothing is known. Empty: the token was refused.
  const std::optional<Value>* find(const TokenDigest& digest) {
    if (const auto* known = find_in(known_, digest)) return known;
    return find_in(refused_, digest);
  }

  void keep(const TokenDigest& digest, std::optional<Value> value) {
    const auto valid = value ? options_.known_for : options_.refused_for;
    (value ? known_ : refused_)
        .put(key_of(digest),
             {.digest = digest, .until = clock_.monotonic() + valid, .value = std::move(value)});
  }

 private:
  struct Entry {
    TokenDigest digest{};
    Monotonic until{};
    std::optional<Value> value{};
  };
  static std::string key_of(const TokenDigest& digest) { return {digest.begin(), digest.end()}; }
  const std::optional<Value>* find_in(BoundedCache<Entry>& entries, const TokenDigest& digest) {
    const Entry* entry = entries.find(key_of(digest));
    const bool good =
        entry != nullptr && clock_.monotonic() < entry->until && same_digest(entry->digest, digest);
    return good ? &entry->value : nullptr;
  }

  Clock& clock_;
  TokenMemoryOptions options_;
  BoundedCache<Entry> known_;
  BoundedCache<Entry> refused_;
};

}  // namespace amdahl::controller
