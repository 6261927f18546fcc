// What the transport may do with a request: fence, credentials, warnings, lanes, cancellation.

#include <catch2/catch.hpp>

#include "operator/kube/http_framing.hpp"
#include "operator/kube/test_http_fixture.hpp"

namespace amdahl::kube {
namespace {

using namespace std::chrono_literals;
using testkit::http_ok;
using testkit::http_response;
using testkit::Script;

TEST_CASE("A fenced write is refused at the last moment, and nothing of it is sent", "[E2]") {
  TransportFixture fixture;
  FakeFence fence;
  // The fence closes while the connection is made: the proxy is the last to speak before the write.
  const testkit::Script proxy = Script()
                                    .expect()
                                    .call([&] { fence.open = false; })
                                    .send("HTTP/1.1 200 Connected\r\n\r\n")
                                    .reply([](const auto&) { return http_ok("{}"); });
  fixture.server.play_always(proxy);
  fixture.options.proxy = ProxyTarget{.tls = false,
                                      .host = "127.0.0.1",
                                      .port = fixture.server.port(),
                                      .authorization = "",
                                      .origin = ""};
  fixture.transport().set_fence(&fence);

  const auto write = fixture.send(create_pod());
  REQUIRE_FALSE(write);
  CHECK(write.error().code == Errc::kFenced);
  CHECK(fixture.server.requests().size() == 1);  // the CONNECT
  CHECK(fixture.transport().stats().fenced == 1);

  CHECK(fixture.send(get_pod()));  // reads pass
  Request unfenced = create_pod();
  unfenced.fenced = false;
  CHECK(fixture.send(std::move(unfenced)));
  fence.open = true;
  fixture.server.play(
      Script().expect().send("HTTP/1.1 200 Connected\r\n\r\n").reply([](const auto&) {
        return http_ok("{}");
      }));
  CHECK(fixture.send(create_pod()));
}

TEST_CASE("A write on a kept connection is fenced, too", "[E2]") {
  TransportFixture fixture;
  FakeFence fence;
  fixture.transport().set_fence(&fence);
  fixture.server.play_always(Script().expect().send(http_ok("{}")).forever());
  REQUIRE(fixture.send(create_pod()));
  fence.open = false;
  const auto write = fixture.send(create_pod());
  REQUIRE_FALSE(write);
  CHECK(write.error().code == Errc::kFenced);
  CHECK(fixture.server.requests().size() == 1);
}

TEST_CASE("A 401 is retried once with fresh credentials", "[C1]") {
  TransportFixture fixture;
  fixture.credentials.tokens = {"old", "new"};
  fixture.server.play_always(Script()
                                 .reply([](const testkit::ReceivedRequest& request) {
                                   const bool fresh =
                                       request.header("Authorization") == "Bearer new";
                                   return http_response(fresh ? 200 : 401, "{}");
                                 })
                                 .forever());
  CHECK(fixture.send(create_pod())->status == 200);
  CHECK(fixture.credentials.rejections == 1);
  CHECK(fixture.server.requests().size() == 2);
  CHECK(fixture.server.requests()[1].body == create_pod().body);

  fixture.credentials.tokens = {"old", "older", "oldest"};
  fixture.credentials.current = 0;
  CHECK(fixture.send(get_pod())->status == 401);
  CHECK(fixture.credentials.rejections == 2);
  CHECK(fixture.server.requests().size() == 4);

  fixture.credentials.tokens = {"old", "new"};
  fixture.credentials.current = 0;
  CHECK(fixture.open(watch_pods())->head.status == 200);
  CHECK(fixture.server.requests().size() == 6);
}

TEST_CASE("Credentials go over plain text to this machine only", "[C6]") {
  TransportFixture fixture;
  fixture.options.server.host = "api.example.com";
  const auto response = fixture.send(get_pod());
  REQUIRE_FALSE(response);
  CHECK(response.error().code == Errc::kInvalid);
}

TEST_CASE("A credential that would break out of its header is refused and not shown", "[C7]") {
  TransportFixture fixture;
  fixture.credentials.tokens = {std::string(kSecret) + "\r\nX-Remote-User: admin"};
  const auto response = fixture.send(get_pod());
  REQUIRE_FALSE(response);
  CHECK(response.error().code == Errc::kInvalid);
  CHECK(response.error().context.find(kSecret) == std::string::npos);
  CHECK(fixture.server.connections() == 0);
}

TEST_CASE("Warnings of the server are counted and handed on", "[W11]") {
  TransportFixture fixture;
  std::vector<std::string> seen;
  fixture.options.on_warning = [&](const Request& request, std::string_view text) {
    seen.push_back(request.subject + ": " + std::string(text));
  };
  fixture.server.play(Script().expect().send(http_response(
      201, "{}", "Warning: 299 - \"unknown field \\\"spec.x\\\"\"\r\nWarning: 299 - \"old\"\r\n")));
  REQUIRE(fixture.send(create_pod()));
  CHECK(seen == std::vector<std::string>{"pods research/llama-0: unknown field \"spec.x\"",
                                         "pods research/llama-0: old"});
  CHECK(fixture.transport().stats().warnings == 2);
  CHECK(warning_text("299 - \"unended") == "unended");
  CHECK(warning_text("odd") == "odd");
}

Task<void> keep_result(Task<Result<Response>> task, std::optional<Result<Response>>& into) {
  into.emplace(co_await std::move(task));
}

TEST_CASE("A flood on the default lane does not delay the lease", "[E7]") {
  TransportFixture fixture;
  fixture.options.pool.in_flight_max = 3;
  fixture.server.play_always(Script().expect().call([] {}).silence());
  TaskGroup flood(fixture.io.get_executor());
  std::vector<std::optional<Result<Response>>> answers(10);
  for (auto& answer : answers)
    flood.spawn("flood", keep_result(fixture.transport().send(get_pod(), fixture.in(10s)), answer));
  run_until_complete(fixture.io, fixture.clock.sleep_for(20ms));
  CHECK(fixture.server.connections() == 3);  // the bound holds

  fixture.server.play(Script().expect().send(http_ok("{}")).expect().send(http_ok("{}")));
  Request renew = get_pod();
  renew.lane = Lane::kLease;
  CHECK(fixture.send(renew, 1s));
  CHECK(fixture.send(renew, 1s));
  CHECK(fixture.server.connections() == 4);  // its own, and kept

  flood.stop();
  CHECK(run_until_complete(fixture.io, flood.join(fixture.clock, fixture.in(2s))));
  for (const auto& answer : answers) {
    REQUIRE(answer);
    REQUIRE_FALSE(*answer);
    CHECK(answer->error().code == Errc::kCancelled);
  }
}

TEST_CASE("A cancelled call closes its connection") {
  TransportFixture fixture;
  fixture.server.play(Script().expect().silence());
  TaskGroup group(fixture.io.get_executor());
  std::optional<Result<Response>> answer;
  group.spawn("call", keep_result(fixture.transport().send(get_pod(), fixture.in(10s)), answer));
  run_until_complete(fixture.io, fixture.clock.sleep_for(10ms));
  CHECK(fixture.server.open_connections() == 1);
  group.stop();
  CHECK(run_until_complete(fixture.io, group.join(fixture.clock, fixture.in(2s))));
  REQUIRE(answer);
  REQUIRE_FALSE(*answer);
  CHECK(answer->error().code == Errc::kCancelled);
  run_until_complete(fixture.io, fixture.clock.sleep_for(10ms));
  CHECK(fixture.server.open_connections() == 0);
  CHECK(fixture.transport().idle_connections() == 0);
}

TEST_CASE("A credential appears in no error whatever breaks", "[C1]") {
  const std::string echo = "you sent Authorization: Bearer " + std::string(kSecret);
  for (const std::string& bytes :
       {std::string(), echo, "HTTP/1.1 200 OK\r\n" + echo + "\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" + echo,
        testkit::chunked_head() + echo + "\r\n", std::string(100'000, 'x')}) {
    TransportFixture fixture;
    fixture.server.play(Script().expect().send(bytes));
    const auto response = fixture.send(get_pod(), 200ms);
    if (response) continue;  // a short body is cut by its length
    CHECK(response.error().context.find(kSecret) == std::string::npos);
  }
}

}  // namespace
}  // namespace amdahl::kube
