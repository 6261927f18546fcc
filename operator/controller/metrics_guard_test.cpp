#include "operator/controller/metrics_guard.hpp"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/fields.hpp"
#include "base/task_group.hpp"

namespace amdahl::controller {
namespace {
using namespace std::chrono_literals;
namespace asio = boost::asio;
constexpr const char* kScraper = "10.0.0.1";

Task<void> decisions_age(ManualClock& clock, MetricsGuard& guard, int& reviews) {
  CHECK(co_await guard.admit("Bearer good", "/metrics", kScraper) == Admission::kAllowed);
  clock.advance(59s);
  CHECK(co_await guard.admit("Bearer good", "/metrics", kScraper) == Admission::kAllowed);
  CHECK(reviews == 1);
  clock.advance(2s);
  CHECK(co_await guard.admit("Bearer good", "/metrics", kScraper) == Admission::kAllowed);
  CHECK(reviews == 2);
  CHECK(co_await guard.admit("Bearer " + std::string(kBearerBytesMax, 'x'), "/metrics", kScraper) ==
        Admission::kNoToken);
  int busy = 0;
  for (int i = 0; i < 1000; ++i)
    if (co_await guard.admit(fmt::format("Bearer bad{}", i), "/metrics", kScraper) ==
        Admission::kBusy)
      ++busy;
  CHECK(busy >= 990);  // a flood from one address reaches the API server 5 times
  CHECK(reviews <= 8);
  CHECK(co_await guard.admit("Bearer good", "/metrics", kScraper) == Admission::kAllowed);
}

Task<Result<bool>> count_review(int& reviews, std::string token) {
  ++reviews;
  co_return token == "good";
}

TEST_CASE(
    "MetricsGuard remembers briefly, and a flood of bad tokens does not reach the API server") {
  asio::io_context io;
  ManualClock clock;
  int reviews = 0;
  MetricsGuard guard(clock, [&](std::string token, std::string) {
    return count_review(reviews, std::move(token));
  });
  run_simulated(io, clock, decisions_age(clock, guard, reviews));
}

int junk(asio::io_context& io, MetricsGuard& guard, int number, int peers) {
  const auto said = run_until_complete(
      io, guard.admit(fmt::format("Bearer bad{}", number), "/metrics",
                      fmt::format("10.9.{}.{}", number % peers / 250, number % peers % 250)));
  return said == Admission::kBusy ? 0 : 1;
}

TEST_CASE("MetricsGuard: wrong tokens keep out neither known readers nor other addresses",
          "[A10]") {
  asio::io_context io;
  ManualClock clock;
  int reviews = 0;
  MetricsGuard guard(clock, [&](std::string token, std::string) {
    return count_review(reviews, std::move(token));
  });
  const auto ask = [&](const char* peer) {
    return run_until_complete(io, guard.admit("Bearer good", "/metrics", peer));
  };
  SECTION("of one address: others are heard") {
    for (int i = 0; i < 1000; ++i) junk(io, guard, i, 1);
    CHECK(ask(kScraper) == Admission::kAllowed);
  }
  SECTION("of a thousand addresses: a reader who was let in before is let in again") {
    REQUIRE(ask(kScraper) == Admission::kAllowed);
    int asked = 0;
    for (int second = 0; second < 600; ++second) {
      for (int i = 0; i < 200; ++i) asked += junk(io, guard, second * 200 + i, 1000);
      REQUIRE(ask(kScraper) == Admission::kAllowed);
      clock.advance(1s);
    }
    CHECK(asked <= static_cast<int>(kReviewsBurst + 600 * kReviewsPerSecond));
  }
  SECTION("from the reader's own address as well") {
    REQUIRE(ask("10.9.0.0") == Admission::kAllowed);
    clock.advance(kAllowedFor + 1s);
    for (int i = 0; i < 1000; ++i) junk(io, guard, i, 1);
    CHECK(ask("10.9.0.0") == Admission::kAllowed);
  }
}

Task<Result<bool>> review_for_now(const bool& allowed, int& reviews) {
  ++reviews;
  co_return allowed;
}

TEST_CASE("MetricsGuard: a token that lost its right is a token like any other", "[A10]") {
  asio::io_context io;
  ManualClock clock;
  int reviews = 0;
  bool allowed = true;
  MetricsGuard guard(clock,
                     [&](std::string, std::string) { return review_for_now(allowed, reviews); });
  const auto ask = [&] {
    return run_until_complete(io, guard.admit("Bearer t", "/metrics", kScraper));
  };
  const auto wrong = [&](int number) {
    (void)run_until_complete(io,
                             guard.admit(fmt::format("Bearer x{}", number), "/metrics", kScraper));
  };
  REQUIRE(ask() == Admission::kAllowed);
  allowed = false;
  clock.advance(kAllowedFor + 1s);
  CHECK(ask() == Admission::kDenied);
  clock.advance(kDeniedFor + 1s);
  for (int i = 0; i < 100; ++i) wrong(i);
  CHECK(ask() == Admission::kBusy);
}

// Knows two tokens: "good" belongs to a scraper who may read, "weak" to somebody who may not.
class ReviewServer final : public kube::Transport {
 public:
  Task<Result<kube::Response>> send(kube::Request request, Monotonic /*deadline*/) override {
    CHECK(request.verb == kube::Verb::kReview);
    const Json asked = Json::parse(request.body);
    Json status;
    if (request.target.contains("tokenreviews")) {
      const std::string token = asked["spec"]["token"];
      status["authenticated"] = token == "good" || token == "weak";
      status["user"]["username"] = token == "good" ? "scraper" : "somebody";
      status["user"]["groups"] = {"monitoring"};
    } else {
      CHECK(asked["spec"]["nonResourceAttributes"] == Json{{"path", "/metrics"}, {"verb", "get"}});
      CHECK(asked["spec"]["groups"] == Json{"monitoring"});
      status["allowed"] = asked["spec"]["user"] == "scraper";
    }
    const Json answer = {{"spec", Json::object()}, {"status", status}};
    co_return kube::Response{.status = away ? 503 : 201,
                             .headers = {{.name = "Content-Type", .value = "application/json"}},
                             .body = answer.dump()};
  }
  Task<Result<kube::StreamResponse>> open(kube::Request, Monotonic) override {
    co_return fail(Errc::kIo, "no streams here");
  }
  void set_fence(const kube::WriteFence* /*fence*/) override {}
  bool away = false;
};

Task<void> ask_the_cluster(ReviewServer& server, MetricsGuard& guard) {
  CHECK(co_await guard.admit("Bearer good", "/metrics", kScraper) == Admission::kAllowed);
  CHECK(co_await guard.admit("Bearer weak", "/metrics", kScraper) == Admission::kDenied);
  CHECK(co_await guard.admit("Bearer forged", "/metrics", kScraper) == Admission::kDenied);
  server.away = true;
  CHECK(co_await guard.admit("Bearer new", "/metrics", kScraper) == Admission::kUnknown);
  CHECK(co_await guard.admit("Bearer good", "/metrics", kScraper) ==
        Admission::kAllowed);  // remembered
}

TEST_CASE("MetricsGuard asks the cluster whose token it is and whether they may read the path") {
  asio::io_context io;
  ManualClock clock;
  ReviewServer server;
  kube::Client client(server, clock, Rng(1));
  MetricsGuard guard(clock, cluster_review(client));
  run_simulated(io, clock, ask_the_cluster(server, guard));
}

}  // namespace
}  // namespace amdahl::controller
