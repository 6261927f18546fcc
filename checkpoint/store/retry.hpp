// Whether and when a request to a store is sent again. Pure: time and chance come as values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/result.hpp"
#include "base/rng.hpp"

namespace amdahl::checkpoint {

struct RetryOptions {
  int attempts_max = 8;
  std::chrono::milliseconds first_delay{250};  // doubled with every failure
  std::chrono::milliseconds delay_max{16'000};
};

// 408, 429, 500, 502, 503, 504. The request may have been carried out all the same.
bool is_passing(int status);
// The connection broke, or its server was not there.
bool is_passing(const Error& error);

struct FailedAttempt {
  int failures = 1;  // this one too
  std::optional<std::chrono::milliseconds> retry_after = {};
  std::chrono::nanoseconds left = {};  // until the deadline
};
// Truncated exponential backoff with full jitter; a server's wish is a least time. No value: no
// attempt is left, or its delay would end after the deadline.
std::optional<std::chrono::nanoseconds> delay_before_next(const RetryOptions& options,
                                                          const FailedAttempt& failed, Rng& rng);

// What a refused create-if-absent means.
enum class CreateRefusal : std::uint8_t {
  kAlreadyThere,  // somebody else's
  kReadBack,      // an attempt of ours went unanswered: it may be ours
};
constexpr CreateRefusal refusal_of(bool unanswered_before) {
  return unanswered_before ? CreateRefusal::kReadBack : CreateRefusal::kAlreadyThere;
}

}  // namespace amdahl::checkpoint
