#include "operator/kube/counted_transport.hpp"

#include <catch2/catch.hpp>

#include "base/task_group.hpp"
#include "tests/kit/pausable_clock.hpp"

namespace amdahl::kube {
namespace {

// Answers with the statuses it was given, 0 for a connection that breaks.
class Answering final : public Transport {
 public:
  explicit Answering(std::vector<int> statuses) : statuses_(std::move(statuses)) {}
  Task<Result<Response>> send(Request, Monotonic) override {
    const int status = statuses_.at(next_++);
    if (status == 0) co_return fail(Errc::kIo, "broken");
    co_return Response{.status = status};
  }
  Task<Result<StreamResponse>> open(Request, Monotonic) override {
    co_return StreamResponse{.head = {.status = statuses_.at(next_++)}};
  }
  void set_fence(const WriteFence* fence) override { fence_ = fence; }
  const WriteFence* fence_ = nullptr;

 private:
  std::vector<int> statuses_;
  std::size_t next_ = 0;
};

struct Open final : WriteFence {
  bool may_write(Monotonic) const override { return true; }
};

}  // namespace

TEST_CASE("CountedTransport counts requests by verb and class of the answer", "[B9]") {
  boost::asio::io_context io;
  RealClock clock;
  MetricsRegistry registry;
  Answering below({200, 409, 503, 0, 200});
  CountedTransport counted(below, clock, registry);
  const auto play = [&]() -> Task<Result<void>> {
    for (const Verb verb : {Verb::kGet, Verb::kPatch, Verb::kPatch, Verb::kPatch})
      (void)co_await counted.send({.verb = verb}, {});
    (void)co_await counted.open({.verb = Verb::kWatch}, {});
    co_return Result<void>{};
  };
  REQUIRE(run_until_complete(io, play(), {.wall = {}}));
  const std::string text = registry.render();
  for (const char* line : {R"(amdahl_api_requests_total{code="2xx",verb="get"} 1)",
                           R"(amdahl_api_requests_total{code="4xx",verb="patch"} 1)",
                           R"(amdahl_api_requests_total{code="5xx",verb="patch"} 1)",
                           R"(amdahl_api_requests_total{code="none",verb="patch"} 1)",
                           R"(amdahl_api_requests_total{code="2xx",verb="watch"} 1)",
                           R"(amdahl_api_request_duration_seconds_count{verb="patch"} 3)"}) {
    INFO(text);
    CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("CountedTransport passes the fence on", "[E2]") {
  RealClock clock;
  MetricsRegistry registry;
  Answering below({});
  CountedTransport counted(below, clock, registry);
  const Open fence;
  counted.set_fence(&fence);
  CHECK(below.fence_ == &fence);
}

}  // namespace amdahl::kube
