// Whose token is this: asks the API server, and remembers the answer for a while.
//
// Thousands of pods report every few seconds, so a token is reviewed once in kPodTokenFor, and
// reviews are limited: whoever sends many wrong tokens waits, and does not make us flood the API
// server. Tokens are kept as digests only (controller/token_memory.hpp).
// Thread: one. Lifetime: what the review function refers to outlives this. Failure:
// Errc::kForbidden and kUnauthorized as they are; kUnavailable while the API server does not answer
// or too many ask.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/controller/token_bucket.hpp"
#include "operator/controller/token_memory.hpp"
#include "operator/kube/client.hpp"
#include "operator/report/reporter.hpp"

namespace amdahl::report {

inline constexpr std::size_t kPodTokensMax = 16'384;
inline constexpr std::chrono::minutes kPodTokenFor{10};
inline constexpr std::chrono::seconds kWrongTokenFor{30};
inline constexpr double kPodReviewsPerSecond = 250;  // 5,000 pods are known after half a minute
inline constexpr double kPodReviewsBurst = 1'000;

using TokenReview = std::function<Task<Result<kube::UserInfo>>(std::string token)>;
// Asks the API server, for kReportAudience; the client outlives the function.
TokenReview cluster_token_review(kube::Client& client);

class PodTokens {
 public:
  PodTokens(Clock& clock, TokenReview review);
  Task<Result<TokenPod>> pod_of(std::string token);

 private:
  Clock& clock_;
  TokenReview review_;
  controller::TokenBucket reviews_;
  controller::TokenMemory<TokenPod> known_;
};

}  // namespace amdahl::report
