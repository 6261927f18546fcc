#include "operator/report/pod_tokens.hpp"

#include <utility>
#include <vector>

#include "operator/api/report.hpp"
#include "operator/kube/access.hpp"

namespace amdahl::report {

TokenReview cluster_token_review(kube::Client& client) {
  return [&client](std::string token) {
    return kube::review_token(client, std::move(token), {std::string(api::kReportAudience)});
  };
}

PodTokens::PodTokens(Clock& clock, TokenReview review)
    : clock_(clock),
      review_(std::move(review)),
      reviews_(kPodReviewsPerSecond, kPodReviewsBurst, clock.monotonic()),
      known_(clock, {.entries_max = kPodTokensMax,
                     .known_for = kPodTokenFor,
                     .refused_for = kWrongTokenFor}) {}

Task<Result<TokenPod>> PodTokens::pod_of(std::string token) {
  const controller::TokenDigest digest = controller::token_digest(token);
  if (const auto* known = known_.find(digest)) {
    if (*known) co_return **known;
    co_return fail(Errc::kUnauthorized, "the token is not valid here");
  }
  if (!reviews_.try_take(clock_.monotonic()))
    co_return fail(Errc::kUnavailable, "too many unknown tokens at present");
  const Result<kube::UserInfo> user = co_await review_(std::move(token));
  if (!user && user.error().code != Errc::kUnauthorized)
    co_return fail(Errc::kUnavailable, "the token cannot be checked: {}", user.error().context);
  Result<TokenPod> pod =
      user ? pod_of_token(*user) : fail(Errc::kUnauthorized, "the token is not valid here");
  known_.keep(digest, pod ? std::optional(*pod) : std::nullopt);
  co_return pod;
}

}  // namespace amdahl::report
