#include "operator/controller/metrics_guard.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/check.hpp"
#include "operator/kube/access.hpp"

namespace amdahl::controller {
namespace {

constexpr std::string_view kScheme = "Bearer ";

std::string cache_key(const auto& digest) {
  return {digest.begin(), digest.end()};
}

Task<Result<bool>> ask_cluster(kube::Client& client, std::string token, std::string path) {
  auto user = co_await kube::review_token(client, std::move(token));
  if (!user && user.error().code == Errc::kUnauthorized) co_return false;
  if (!user) co_return std::unexpected<Error>(std::move(user).error());
  kube::NonResourceAttributes wish{.path = std::move(path), .verb = "get"};
  CO_TRY(const kube::AccessDecision decision,
         co_await kube::can_user_path(client, *std::move(user), std::move(wish)));
  co_return decision.allowed;
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
      reviews_(kReviewsPerSecond, kReviewsBurst, clock.monotonic()) {}

MetricsGuard::Digest MetricsGuard::digest_of(std::string_view token, std::string_view path) {
  const std::string text = std::string(path) + '\n' + std::string(token);
  Digest digest{};
  unsigned int size = 0;
  const int done =
      EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  AMDAHL_CHECK(done == 1 && size == digest.size());
  return digest;
}

bool MetricsGuard::remembered(BoundedCache<Decision>& decisions, const Digest& digest) const {
  const Decision* known = decisions.find(cache_key(digest));
  return known != nullptr && clock_.monotonic() < known->until &&
         CRYPTO_memcmp(known->digest.data(), digest.data(), digest.size()) == 0;
}

Task<Admission> MetricsGuard::admit(std::string authorization, std::string path) {
  const bool bearer = authorization.starts_with(kScheme) && authorization.size() > kScheme.size() &&
                      authorization.size() <= kBearerBytesMax;
  if (!bearer) co_return Admission::kNoToken;
  const std::string token = authorization.substr(kScheme.size());
  const Digest digest = digest_of(token, path);
  if (remembered(allowed_, digest)) co_return Admission::kAllowed;
  if (remembered(denied_, digest)) co_return Admission::kDenied;
  if (!reviews_.try_take(clock_.monotonic())) co_return Admission::kBusy;
  const Result<bool> reviewed = co_await review_(token, path);
  if (!reviewed) co_return Admission::kUnknown;
  const auto valid = *reviewed ? kAllowedFor : kDeniedFor;
  (*reviewed ? allowed_ : denied_)
      .put(cache_key(digest), {.digest = digest, .until = clock_.monotonic() + valid});
  co_return *reviewed ? Admission::kAllowed : Admission::kDenied;
}

}  // namespace amdahl::controller
