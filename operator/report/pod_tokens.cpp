#include "operator/report/pod_tokens.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "operator/api/report.hpp"
#include "operator/kube/access.hpp"
#include "operator/report/token_claims.hpp"

namespace amdahl::report {
namespace {

using controller::BoundedCache;
using controller::TokenBucket;

bool take_from(BoundedCache<TokenBucket>& buckets, const std::string& key, const TokenBucket& fresh,
               Monotonic now) {
  TokenBucket* bucket = buckets.find(key);
  if (bucket == nullptr) bucket = &buckets.put(key, fresh);
  return bucket->try_take(now);
}

}  // namespace

TokenReview cluster_token_review(kube::Client& client) {
  return [&client](std::string token) {
    return kube::review_token(client, std::move(token), {std::string(api::kReportAudience)});
  };
}

PodTokens::PodTokens(Clock& clock, TokenReview review, KnowsPod knows)
    : clock_(clock),
      review_(std::move(review)),
      knows_(std::move(knows)),
      reviews_(kPodReviewsPerSecond, kPodReviewsBurst, clock.monotonic()),
      spare_reviews_(kPodReviewsPerSecond / 2, kPodReviewsBurst / 2, clock.monotonic()),
      claimant_reviews_(kClaimantReviewsPerSecond, kClaimantReviewsBurst, clock.monotonic()),
      known_(clock, {.entries_max = kPodTokensMax,
                     .known_for = kPodTokenFor,
                     .refused_for = kWrongTokenFor}) {}

// Cheapest first: junk costs a look into the cache, and nothing that honest pods share.
Result<void> PodTokens::may_ask(std::string_view token, const std::string& peer) {
  const auto claims = unverified_claims(token);
  if (!claims ||
      std::ranges::find(claims->audiences, api::kReportAudience) == claims->audiences.end())
    return fail(Errc::kUnauthorized, "not a token of a pod for the audience {}",
                api::kReportAudience);
  const PodKnown known = knows_(claims->pod);
  if (known == PodKnown::kNo)
    return fail(Errc::kUnauthorized, "the token names no pod of a TrainingJob");
  const Monotonic now = clock_.monotonic();
  if (!take_from(pods_, peer + ' ' + claims->pod.pod_uid,
                 {kReviewsOfAPodPerSecond, kReviewsOfAPodBurst, now}, now))
    return fail(Errc::kUnavailable, "too many unknown tokens of one pod; report again later");
  const bool taken = known == PodKnown::kMade ? take_review(claims->pod.ns, peer, now)
                                              : claimant_reviews_.try_take(now);
  if (!taken) return fail(Errc::kUnavailable, "too many unknown tokens; report again later");
  return {};
}

bool PodTokens::take_review(const std::string& ns, const std::string& peer, Monotonic now) {
  if (!take_from(peers_, peer, {kPeerReviewsPerSecond, kPeerReviewsBurst, now}, now)) return false;
  if (!take_from(namespaces_, ns, {kNamespaceReviewsPerSecond, kNamespaceReviewsBurst, now}, now) &&
      !spare_reviews_.try_take(now))
    return false;
  return reviews_.try_take(now);
}

Task<Result<TokenPod>> PodTokens::pod_of(std::string token, std::string peer) {
  const controller::TokenDigest digest = controller::token_digest(token);
  if (const auto* known = known_.find(digest)) {
    if (*known) co_return **known;
    co_return fail(Errc::kUnauthorized, "the token is not valid here");
  }
  CO_TRY(may_ask(token, peer));
  const Result<kube::UserInfo> user = co_await review_(std::move(token));
  if (!user && user.error().code != Errc::kUnauthorized)
    co_return fail(Errc::kUnavailable, "the token was not checked: {}", user.error().context);
  Result<TokenPod> pod =
      user ? pod_of_token(*user) : fail(Errc::kUnauthorized, "the token is not valid here");
  known_.keep(digest, pod ? std::optional(*pod) : std::nullopt);
  co_return pod;
}

}  // namespace amdahl::report
