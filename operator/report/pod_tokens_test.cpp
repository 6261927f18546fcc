#include "operator/report/pod_tokens.hpp"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "base/task_group.hpp"
#include "operator/report/test_pod_token.hpp"
#include "operator/report/token_claims.hpp"

namespace amdahl::report {
namespace {

using namespace std::chrono_literals;

TokenPod pod_number(int number) {
  return {.ns = "research",
          .pod = fmt::format("p-1-{}", number),
          .pod_uid = fmt::format("u{}", number)};
}

// A cluster that signs with "good".
struct Cluster {
  boost::asio::io_context io;
  ManualClock clock;
  int reviews = 0;
  PodTokens tokens{clock, [this](std::string token) { return review(std::move(token)); },
                   [](const TokenPod& pod) {
                     if (pod.pod.starts_with("claims-")) return PodKnown::kClaimant;
                     return pod.pod.starts_with("p-") ? PodKnown::kMade : PodKnown::kNo;
                   }};

  Task<Result<kube::UserInfo>> review(std::string token) {
    ++reviews;
    if (!token.ends_with("good")) co_return fail(Errc::kUnauthorized, "wrong signature");
    const TokenPod pod = unverified_claims(token)->pod;
    co_return kube::UserInfo{.username = "system:serviceaccount:" + pod.ns + ":default",
                             .extra = {{"authentication.kubernetes.io/pod-name", {pod.pod}},
                                       {"authentication.kubernetes.io/pod-uid", {pod.pod_uid}}}};
  }
  Result<TokenPod> ask(std::string token, std::string peer = "10.0.0.1") {
    return run_until_complete(io, tokens.pod_of(std::move(token), std::move(peer)));
  }
};

TEST_CASE("PodTokens: junk of 10 seconds at 4,000 per second keeps no honest pod out", "[A5]") {
  Cluster cluster;
  int heard = 0;
  int junk_taken = 0;
  for (int second = 0; second < 10; ++second) {
    for (int i = 0; i < 4'000; ++i) {
      const int number = second * 4'000 + i;
      // Three sorts: no token at all, one of a pod that does not exist, a forged one of our own
      // pod.
      const std::string junk = number % 3 == 0 ? fmt::format("junk{}", number)
                               : number % 3 == 1
                                   ? pod_token({"x", "made-up", fmt::format("{}", i)})
                                   : pod_token(pod_number(0), fmt::format("{}", number));
      junk_taken += cluster.ask(junk).has_value() ? 1 : 0;
    }
    for (int pod = 1 + second * 30; pod <= 30 + second * 30; ++pod)
      heard += cluster.ask(pod_token(pod_number(pod), "good")).has_value() ? 1 : 0;
    cluster.clock.advance(1s);
  }
  CHECK(heard == 300);
  CHECK(junk_taken == 0);
  CHECK(cluster.reviews <= 300 + static_cast<int>(kReviewsOfAPodBurst) + 3);
}

TEST_CASE("PodTokens: one address has at most half of all reviews", "[A5]") {
  Cluster cluster;
  int asked = 0;
  for (int pod = 0; pod < 2'000; ++pod)
    asked += cluster.ask(pod_token(pod_number(pod), "forged"), "10.9.9.9").error().code ==
                     Errc::kUnauthorized
                 ? 1
                 : 0;
  CHECK(asked == static_cast<int>(kPeerReviewsBurst));
  CHECK(cluster.ask(pod_token(pod_number(2'001), "good"), "10.0.0.2"));
}

TEST_CASE("PodTokens: forged tokens of a pod do not keep it out from its own address", "[A5]") {
  Cluster cluster;
  for (int i = 0; i < 100; ++i)
    (void)cluster.ask(pod_token(pod_number(1), fmt::format("{}", i)), "10.9.9.9");
  CHECK(cluster.reviews == static_cast<int>(kReviewsOfAPodBurst));
  CHECK(cluster.ask(pod_token(pod_number(1), "good"), "10.0.0.1"));
}

TEST_CASE("PodTokens: the pods of one namespace keep out no pod of another", "[A5]") {
  Cluster cluster;
  const TokenPod other{.ns = "other", .pod = "p-1-0", .pod_uid = "other"};
  for (int second = 0; second < 5; ++second) {
    for (int peer = 0; peer < 20; ++peer)
      for (int pod = 0; pod < 100; ++pod)
        for (int i = 0; i < 5; ++i)
          (void)cluster.ask(pod_token(pod_number(pod), fmt::format("{}-{}-{}", second, peer, i)),
                            fmt::format("10.9.9.{}", peer));
    CHECK(cluster.ask(pod_token(other, fmt::format("{}-good", second))));
    cluster.clock.advance(1s);
  }
  CHECK(cluster.reviews <= 3 * (kPodReviewsBurst + 5 * kPodReviewsPerSecond) / 4 + 5);
}

TEST_CASE("PodTokens: pods that only claim a job spend nothing of what real ones need", "[A5]") {
  Cluster cluster;
  const auto claimant = [](int number) {
    return TokenPod{.ns = "research",
                    .pod = fmt::format("claims-{}", number),
                    .pod_uid = fmt::format("c{}", number)};
  };
  // One alone is told why it may not report.
  CHECK(cluster.ask(pod_token(claimant(0), "good")));
  for (int pod = 0; pod < 2'000; ++pod)
    (void)cluster.ask(pod_token(claimant(pod), "forged"), fmt::format("10.9.9.{}", pod % 20));
  CHECK(cluster.reviews == static_cast<int>(kClaimantReviewsBurst));
  int heard = 0;
  for (int pod = 0; pod < 500; ++pod)
    heard += cluster.ask(pod_token(pod_number(pod), "good")).has_value() ? 1 : 0;
  CHECK(heard == 500);
}

}  // namespace
}  // namespace amdahl::report
