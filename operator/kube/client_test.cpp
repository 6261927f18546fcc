#include "operator/kube/client.hpp"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "base/task_group.hpp"
#include "operator/kube/test_fake_transport.hpp"

namespace amdahl::kube {
namespace {

using namespace std::chrono_literals;

const Resource kPods{.group = "", .version = "v1", .plural = "pods", .kind = "Pod"};
const std::string kVersioned = R"({"metadata":{"resourceVersion":"7"}})";

Request request_for(Verb verb) {
  switch (verb) {
    case Verb::kGet:
      return *get_request(kPods, {"r", "p"});
    case Verb::kList:
      return *list_request(kPods, {.ns = "r"});
    case Verb::kWatch:
      return *watch_request(kPods, {.ns = "r"});
    case Verb::kCreate:
      return *create_request(kPods, "r", "p", "{}");
    case Verb::kUpdate:
      return *update_request(kPods, {"r", "p"}, kVersioned);
    case Verb::kPatch:
      return *patch_request(kPods, {"r", "p"}, "{}", {});
    case Verb::kDelete:
      return *delete_request(kPods, {"r", "p"}, {});
    default:
      return *review_request({.version = "v1", .plural = "reviews", .namespaced = false}, "{}");
  }
}

struct Fixture {
  boost::asio::io_context io;
  ManualClock clock;
  FakeTransport transport{clock};
  Client client{transport, clock, Rng(1)};

  Result<Response> send(Verb verb) {
    return run_simulated(io, clock, client.send(request_for(verb)));
  }
};

Response answer(int status, std::string retry_after = "", std::string body = "") {
  Response response{.status = status, .headers = {}, .body = std::move(body)};
  if (!retry_after.empty()) response.headers.push_back({"Retry-After", std::move(retry_after)});
  return response;
}
Result<Response> failure(Errc code) {
  return std::unexpected<Error>(Error{.code = code, .context = "broken"});
}

TEST_CASE("A request is repeated only where that is safe", "[W10]") {
  struct Row {
    Result<Response> first;
    std::vector<Verb> repeated;
  };
  const std::vector<Verb> all = {Verb::kGet,   Verb::kList,   Verb::kCreate, Verb::kUpdate,
                                 Verb::kPatch, Verb::kDelete, Verb::kReview};
  const std::vector<Verb> reads = {Verb::kGet, Verb::kList, Verb::kReview};
  std::vector<Verb> all_but_patch = all;
  std::erase(all_but_patch, Verb::kPatch);
  const Row rows[] = {
      {answer(429), all},
      {answer(429, "1"), all},
      {answer(503, "1"), all},
      {answer(500, "1"), all},
      {answer(503), {}},
      {answer(500), {}},
      {answer(504), reads},
      {answer(504, "1"), all_but_patch},
      {answer(400, "1"), {}},
      {answer(401), {}},
      {answer(403), {}},
      {answer(404), {}},
      {answer(409), {}},
      {answer(410), {}},
      {answer(413), {}},
      {answer(422), {}},
      {failure(Errc::kIo), reads},
      {failure(Errc::kTimeout), reads},
      {failure(Errc::kTls), {}},
      {failure(Errc::kCorrupt), {}},
      {failure(Errc::kTooLarge), {}},
      {failure(Errc::kFenced), {}},
      {failure(Errc::kCancelled), {}},
  };
  for (const Row& row : rows)
    for (const Verb verb : all) {
      Fixture fixture;
      fixture.transport.answers = {row.first, answer(200)};
      const auto result = fixture.send(verb);
      INFO((row.first ? std::to_string(row.first->status)
                      : std::string(name(row.first.error().code)))
           << " for " << name(verb));
      const bool repeated = std::ranges::find(row.repeated, verb) != row.repeated.end();
      CHECK(result.has_value() == repeated);
      CHECK(fixture.transport.sent.size() == (repeated ? 2 : 1));
      CHECK(fixture.client.retries() == (repeated ? 1 : 0));
    }
}

TEST_CASE("Retry-After is honoured, and jitter is added to it", "[W10][E7]") {
  Fixture fixture;
  fixture.transport.answers = {answer(429, "3"), answer(200)};
  REQUIRE(fixture.send(Verb::kCreate));
  const auto pause = fixture.transport.sent.at(1) - fixture.transport.sent.at(0);
  CHECK(pause >= 3s);
  CHECK(pause <= 3s + fixture.client.options().backoff_min);
}

TEST_CASE("A server that asks for more time than there is gets no second request", "[W10]") {
  Fixture fixture;
  fixture.transport.answers = {answer(503, "120")};
  const auto result = fixture.send(Verb::kGet);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == Errc::kUnavailable);
  CHECK(result.error().retry_after == 120s);
  CHECK(fixture.transport.sent.size() == 1);
}

TEST_CASE("Retries are bounded in number, and pauses grow with full jitter", "[W10]") {
  std::chrono::nanoseconds longest{0};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Fixture fixture;
    Client client(fixture.transport, fixture.clock, Rng(seed));
    fixture.transport.answers = {answer(429)};
    const auto result =
        run_simulated(fixture.io, fixture.clock, client.send(request_for(Verb::kGet)));
    REQUIRE_FALSE(result);
    CHECK(result.error().code == Errc::kThrottled);
    const auto& sent = fixture.transport.sent;
    REQUIRE(sent.size() == client.options().attempts_max);
    for (std::size_t i = 1; i < sent.size(); ++i) {
      const auto bound = client.options().backoff_min * (1 << (i - 1));
      CHECK(sent[i] - sent[i - 1] <= bound);
      longest = std::max(longest, sent[i] - sent[i - 1]);
    }
  }
  CHECK(longest > 400ms);  // of 800 ms: the jitter is full, not a tremble
}

TEST_CASE("Every attempt has its own timeout inside the deadline of the call", "[W10][Q6]") {
  Fixture fixture;
  fixture.transport.answers = {answer(429, "20"), answer(429, "8"), answer(200)};
  const Monotonic start = fixture.clock.monotonic();
  REQUIRE(fixture.send(Verb::kGet));
  const auto& deadlines = fixture.transport.deadlines;
  REQUIRE(deadlines.size() == 3);
  CHECK(deadlines[0] == start + 15s);
  CHECK(deadlines[1] == start + 30s);  // what is left of the call
  CHECK(deadlines[2] == start + 30s);
}

Task<void> send_and_note(Client& client, std::optional<Result<Response>>& into) {
  into.emplace(co_await client.send(request_for(Verb::kGet)));
}

TEST_CASE("A call that is cancelled while it waits to retry says so") {
  Fixture fixture;
  fixture.transport.answers = {answer(429, "5")};
  TaskGroup group(fixture.io.get_executor());
  std::optional<Result<Response>> result;
  group.spawn("call", send_and_note(fixture.client, result));
  fixture.io.poll();
  CHECK_FALSE(result);
  group.stop();
  CHECK(run_simulated(fixture.io, fixture.clock, group.join(fixture.clock, Monotonic::max())));
  REQUIRE(result);
  REQUIRE_FALSE(*result);
  CHECK(result->error().code == Errc::kCancelled);
}

TEST_CASE("A stream is opened once, and its refusal is an error") {
  Fixture fixture;
  fixture.transport.answers = {answer(410, "", R"({"message":"too old","reason":"Expired"})")};
  const auto refused =
      run_simulated(fixture.io, fixture.clock, fixture.client.open(request_for(Verb::kWatch)));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::kGone);
  CHECK(refused.error().context == "watch pods in r: too old (HTTP 410 Expired)");
  fixture.transport.answers = {answer(200)};
  CHECK(run_simulated(fixture.io, fixture.clock, fixture.client.open(request_for(Verb::kWatch))));
  CHECK(fixture.transport.deadlines.size() == 2);
}

}  // namespace
}  // namespace amdahl::kube
