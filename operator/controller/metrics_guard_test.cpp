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

Task<void> decisions_age(ManualClock& clock, MetricsGuard& guard, int& reviews) {
  CHECK(co_await guard.admit("Bearer good", "/metrics") == Admission::kAllowed);
  clock.advance(59s);
  CHECK(co_await guard.admit("Bearer good", "/metrics") == Admission::kAllowed);
  CHECK(reviews == 1);
  clock.advance(2s);
  CHECK(co_await guard.admit("Bearer good", "/metrics") == Admission::kAllowed);
  CHECK(reviews == 2);
  CHECK(co_await guard.admit("Bearer " + std::string(kBearerBytesMax, 'x'), "/metrics") ==
        Admission::kNoToken);
  int busy = 0;
  for (int i = 0; i < 1000; ++i)
    if (co_await guard.admit(fmt::format("Bearer bad{}", i), "/metrics") == Admission::kBusy)
      ++busy;
  CHECK(busy >= 980);  // a flood reaches the API server 20 times
  CHECK(reviews <= 22);
  CHECK(co_await guard.admit("Bearer good", "/metrics") == Admission::kAllowed);
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
  CHECK(co_await guard.admit("Bearer good", "/metrics") == Admission::kAllowed);
  CHECK(co_await guard.admit("Bearer weak", "/metrics") == Admission::kDenied);
  CHECK(co_await guard.admit("Bearer forged", "/metrics") == Admission::kDenied);
  server.away = true;
  CHECK(co_await guard.admit("Bearer new", "/metrics") == Admission::kUnknown);
  CHECK(co_await guard.admit("Bearer good", "/metrics") == Admission::kAllowed);  // remembered
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
