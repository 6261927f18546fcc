// Whose token is this: asks the API server, and remembers the answer for a while.
//
// Thousands of pods report every few seconds, so a token is reviewed once in kPodTokenFor. Reviews
// are limited, and what is limited is spent with care: a token whose own claims name no pod of ours
// is refused unasked, one pod cannot be asked about without end, one address has at most half of
// all reviews, and one namespace at most three quarters. Tokens are kept as digests only
// (controller/token_memory.hpp). Thread: one. Lifetime: what the functions refer to outlives this.
// Failure: Errc::kForbidden and kUnauthorized as they are; kUnavailable while the API server does
// not answer or too many ask.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/controller/bounded_cache.hpp"
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
inline constexpr double kPeerReviewsPerSecond = kPodReviewsPerSecond / 2;
inline constexpr double kPeerReviewsBurst = kPodReviewsBurst / 2;
inline constexpr std::size_t kPeersLimitedMax = 16'384;
// A namespace may spend a quarter of all reviews, and share a common half beyond that.
inline constexpr double kNamespaceReviewsPerSecond = kPodReviewsPerSecond / 4;
inline constexpr double kNamespaceReviewsBurst = kPodReviewsBurst / 4;
inline constexpr std::size_t kNamespacesLimitedMax = 4'096;
// Of all pods that only claim to belong to a job: enough to tell their owners why not.
inline constexpr double kClaimantReviewsPerSecond = 5;
inline constexpr double kClaimantReviewsBurst = 20;
// Of one pod, from one address: its token changes about once in an hour.
inline constexpr double kReviewsOfAPodPerSecond = 0.2;
inline constexpr double kReviewsOfAPodBurst = 5;
inline constexpr std::size_t kReviewedPodsMax = 65'536;

using TokenReview = std::function<Task<Result<kube::UserInfo>>(std::string token)>;
// Asks the API server, for kReportAudience; the client outlives the function.
TokenReview cluster_token_review(kube::Client& client);
// What the cache has of a pod. Labels and owner references are what anybody can write.
enum class PodKnown : std::uint8_t {
  kNo,        // no such pod, or another one of its name
  kClaimant,  // labelled for a job, which did not make it for its current attempt
  kMade,      // by its job
};
using KnowsPod = std::function<PodKnown(const TokenPod& pod)>;

class PodTokens {
 public:
  PodTokens(Clock& clock, TokenReview review, KnowsPod knows);
  // `peer` is the address that sent it, without a port.
  Task<Result<TokenPod>> pod_of(std::string token, std::string peer);

 private:
  using Buckets = controller::BoundedCache<controller::TokenBucket>;
  Result<void> may_ask(std::string_view token, const std::string& peer);
  bool take_review(const std::string& ns, const std::string& peer, Monotonic now);

  Clock& clock_;
  TokenReview review_;
  KnowsPod knows_;
  controller::TokenBucket reviews_;
  controller::TokenBucket spare_reviews_;
  controller::TokenBucket claimant_reviews_;
  Buckets peers_{kPeersLimitedMax};
  Buckets namespaces_{kNamespacesLimitedMax};
  Buckets pods_{kReviewedPodsMax};  // by address and UID of the pod
  controller::TokenMemory<TokenPod> known_;
};

}  // namespace amdahl::report
