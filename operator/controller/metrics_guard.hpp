// Who may read /metrics: asks the cluster about a bearer token, and remembers the answer briefly.
//
// Tokens are kept as digests only (token_memory.hpp). Reviews are limited, so that somebody without
// rights cannot make us flood the API server: per address, and for all addresses together. A token
// that was let in before is reviewed again from a budget that wrong tokens cannot spend. Thread:
// one. Lifetime: what the review function refers to outlives this. Failure: a review that fails
// lets nobody in.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/controller/bounded_cache.hpp"
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
// Of tokens that were not let in before: of one address, and of all.
inline constexpr double kPeerReviewsPerSecond = 1;
inline constexpr double kPeerReviewsBurst = 5;
inline constexpr std::size_t kReviewedPeersMax = 1024;
inline constexpr double kReviewsPerSecond = 20;
inline constexpr double kReviewsBurst = 100;
// Of tokens that were: each is asked about once in kAllowedFor, unless the API server is away.
inline constexpr double kRenewalsPerSecond = 5;
inline constexpr double kRenewalsBurst = 20;

enum class Admission : std::uint8_t { kAllowed, kNoToken, kDenied, kBusy, kUnknown };

class MetricsGuard {
 public:
  MetricsGuard(Clock& clock, AccessReview review);
  // `authorization` is the value of the header, `peer` the address of the reader without a port.
  Task<Admission> admit(std::string authorization, std::string path, std::string peer);

 private:
  bool may_ask(const std::string& digest, const std::string& peer);
  void keep(const TokenDigest& digest, bool allowed);

  Clock& clock_;
  AccessReview review_;
  TokenBucket reviews_;
  TokenBucket renewals_;
  BoundedCache<TokenBucket> peers_{kReviewedPeersMax};
  BoundedCache<std::monostate> let_in_{kDecisionsMax};  // by digest: were allowed when last asked
  TokenMemory<std::monostate> decisions_;
};

}  // namespace amdahl::controller
