#include "operator/controller/metrics_guard.hpp"

#include "operator/kube/access.hpp"

namespace amdahl::controller {
namespace {

constexpr std::string_view kScheme = "Bearer ";

Task<Result<bool>> ask_cluster(kube::Client& client, std::string token, std::string path) {
  auto user = co_await kube::review_token(client, std::move(token));
  if (!user && user.error().code == Errc::kUnauthorized) co_return false;
  if (!user) co_return std::unexpected<Error>(std::move(user).error());
  kube::NonResourceAttributes wish{.path = std::move(path), .verb = "get"};
  CO_TRY(const kube::AccessDecision decision,
         co_await kube::can_user_path(client, *std::move(user), std::move(wish)));
  co_return decision.allowed;
}

std::string key_of(const TokenDigest& digest) {
  return {digest.begin(), digest.end()};
}

}  // namespace

AccessReview cluster_review(kube::Client& client) {
  return [&client](std::string token, std::string path) {
    return ask_cluster(client, std::move(token), std::move(path));
  };
}

MetricsGuard::MetricsGuard(Clock& clock, AccessReview review)
    : clock_(clock),
      review_(std::move(review)),
      reviews_(kReviewsPerSecond, kReviewsBurst, clock.monotonic()),
      renewals_(kRenewalsPerSecond, kRenewalsBurst, clock.monotonic()),
      decisions_(
          clock,
          {.entries_max = kDecisionsMax, .known_for = kAllowedFor, .refused_for = kDeniedFor}) {}

bool MetricsGuard::may_ask(const std::string& digest, const std::string& peer) {
  const Monotonic now = clock_.monotonic();
  if (let_in_.find(digest) != nullptr) return renewals_.try_take(now);
  TokenBucket* bucket = peers_.find(peer);
  if (bucket == nullptr)
    bucket = &peers_.put(peer, TokenBucket(kPeerReviewsPerSecond, kPeerReviewsBurst, now));
  return bucket->try_take(now) && reviews_.try_take(now);
}

void MetricsGuard::keep(const TokenDigest& digest, bool allowed) {
  decisions_.keep(digest, allowed ? std::optional(std::monostate{}) : std::nullopt);
  if (allowed)
    let_in_.put(key_of(digest), {});
  else
    let_in_.erase(key_of(digest));
}

Task<Admission> MetricsGuard::admit(std::string authorization, std::string path, std::string peer) {
  const bool bearer = authorization.starts_with(kScheme) && authorization.size() > kScheme.size() &&
                      authorization.size() <= kBearerBytesMax;
  if (!bearer) co_return Admission::kNoToken;
  const std::string token = authorization.substr(kScheme.size());
  const TokenDigest digest = token_digest(token, path);
  if (const auto* known = decisions_.find(digest))
    co_return *known ? Admission::kAllowed : Admission::kDenied;
  if (!may_ask(key_of(digest), peer)) co_return Admission::kBusy;
  const Result<bool> reviewed = co_await review_(token, path);
  if (!reviewed) co_return Admission::kUnknown;
  keep(digest, *reviewed);
  co_return *reviewed ? Admission::kAllowed : Admission::kDenied;
}

}  // namespace amdahl::controller
