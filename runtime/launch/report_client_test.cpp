#include "runtime/launch/report_client.hpp"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "base/http_server.hpp"
#include "base/task_group.hpp"

namespace amdahl::launch {
namespace {
using namespace std::chrono_literals;

// An operator that answers every report with one status.
struct Site {
  Site()
      : server(io.get_executor(), clock, {},
               [this](HttpRequest, HttpResponder& responder) -> Task<void> {
                 return answer(responder);
               }) {
    REQUIRE(run_until_complete(io, server.start()));
    client.emplace(
        io.get_executor(), clock,
        ReportClientOptions{
            .target = {.host = "127.0.0.1", .port = server.port(), .path = "/v1/report"}});
  }
  ~Site() { (void)run_until_complete(io, server.stop(clock.monotonic() + 5s)); }

  Task<void> answer(HttpResponder& responder) {
    ++reports;
    (void)co_await responder.respond({.status = status, .body = "{}"});
  }
  Result<api::ReportReply> post(int status_now) {
    status = status_now;
    return run_until_complete(io, client->post("{}", clock.monotonic() + 30s));
  }

  boost::asio::io_context io;
  RealClock clock;
  int status = 200;
  int reports = 0;
  HttpServer server;
  std::optional<ReportClient> client;
};

TEST_CASE("ReportClient: a status means the same as to every other client", "[B12]") {
  Site site;
  for (const auto& [status, code] :
       std::initializer_list<std::pair<int, Errc>>{{400, Errc::kInvalid},
                                                   {401, Errc::kUnauthorized},
                                                   {403, Errc::kForbidden},
                                                   {404, Errc::kNotFound},
                                                   {408, Errc::kTimeout},
                                                   {409, Errc::kConflict},
                                                   {413, Errc::kTooLarge},
                                                   {429, Errc::kThrottled},
                                                   {500, Errc::kUnavailable},
                                                   {503, Errc::kUnavailable},
                                                   {504, Errc::kTimeout},
                                                   {302, Errc::kInvalid}}) {
    INFO(status);
    const auto reply = site.post(status);
    REQUIRE_FALSE(reply);
    CHECK(reply.error().code == code);
    CHECK(reply.error().context.starts_with("HTTP " + std::to_string(status)));
  }
  CHECK(site.reports == 12);  // none is sent twice
  CHECK(site.post(200));
}

}  // namespace
}  // namespace amdahl::launch
