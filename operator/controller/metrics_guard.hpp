// Who may read /metrics: asks the cluster about a bearer token, and remembers the answer briefly.
//
// Tokens are kept as digests only (token_memory.hpp). Reviews are limited, so that somebody without
// rights cannot make us flood the API server. Thread: one. Lifetime: what the
// review function refers to outlives this. Failure: a review that fails lets nobody in.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/controller/token_bucket.hpp"
#include "operator/controller/token_memory.hpp"
#include "operator/kube/client.hpp"

namespace amdahl::controller {

// Whether the token's user may GET the path: TokenReview, then SubjectAccessReview.
using AccessReview = std::function<Task<Result<bool>>(std::string token, std::string path)>;
// Asks the API server; the client outlives the function.
AccessReview cluster_review(kube::Client& client);

inline constexpr std::size_t kDecisionsMax = 256;
inline constexpr std::size_t kBearerBytesMax = 16'384;
inline constexpr std::chrono::seconds kAllowedFor{60};
inline constexpr std::chrono::seconds kDeniedFor{10};
inline constexpr double kReviewsPerSecond = 5;
inline constexpr double kReviewsBurst = 20;

enum class Admission : std::uint8_t { kAllowed, kNoToken, kDenied, kBusy, kUnknown };

class MetricsGuard {
 public:
  MetricsGuard(Clock& clock, AccessReview review);
  // `authorization` is the value of the header.
  Task<Admission> admit(std::string authorization, std::string path);

 private:
  Clock& clock_;
  AccessReview review_;
  TokenBucket reviews_;
  TokenMemory<std::monostate> decisions_;
};

}  // namespace amdahl::controller
