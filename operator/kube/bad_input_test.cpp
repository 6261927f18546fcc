// Bad input, from a server on loopback to the error that a caller sees: it names verb, kind,
// namespace/name and cause, and never a token. Streams are in bad_stream_test.cpp.

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "operator/kube/api.hpp"
#include "operator/kube/test_http_fixture.hpp"

namespace amdahl::kube {
namespace {

using namespace std::chrono_literals;
using Catch::Contains;
using Catch::StartsWith;
using testkit::http_ok;
using testkit::http_response;
using testkit::Script;

struct ClientFixture : TransportFixture {
  std::unique_ptr<Client> made_client;
  // One attempt: what is repeated is the business of client_test.cpp.
  Client& client() {
    if (!made_client)
      made_client =
          std::make_unique<Client>(transport(), clock, Rng(1), ClientOptions{.attempts_max = 1});
    return *made_client;
  }
  template <class T>
  T run(Task<T> task) {
    return run_until_complete(io, std::move(task));
  }
};

TEST_CASE("400, 401, 403, 404, 409, 410, 413, 422, 429 and 5xx are errors with verb, object, cause",
          "[C1][W10]") {
  struct Row {
    int status;
    std::string reason;
    Errc code;
  };
  for (const Row& row :
       {Row{400, "BadRequest", Errc::kInvalid}, Row{401, "Unauthorized", Errc::kUnauthorized},
        Row{403, "Forbidden", Errc::kForbidden}, Row{404, "NotFound", Errc::kNotFound},
        Row{409, "AlreadyExists", Errc::kAlreadyExists}, Row{409, "Conflict", Errc::kConflict},
        Row{410, "Expired", Errc::kGone}, Row{413, "RequestEntityTooLarge", Errc::kTooLarge},
        Row{422, "Invalid", Errc::kInvalid}, Row{429, "TooManyRequests", Errc::kThrottled},
        Row{500, "InternalError", Errc::kUnavailable}, Row{502, "", Errc::kUnavailable},
        Row{503, "ServiceUnavailable", Errc::kUnavailable}, Row{504, "Timeout", Errc::kTimeout}}) {
    INFO(row.status << " " << row.reason);
    const Json status{{"kind", "Status"},
                      {"reason", row.reason},
                      {"message", "the cause; you sent Bearer " + std::string(kSecret)}};
    ClientFixture fixture;
    fixture.server.play_always(
        Script().expect().send(http_response(row.status, status.dump())).forever());
    for (const Request& request : {get_pod(), create_pod(), list_pods()}) {
      const auto response = fixture.run(fixture.client().send(request));
      REQUIRE_FALSE(response);
      const std::string& text = response.error().context;
      CHECK(response.error().code == row.code);
      CHECK_THAT(text,
                 StartsWith(fmt::format("{} {}: the cause", name(request.verb), request.subject)));
      CHECK_THAT(text, Contains(fmt::format("HTTP {}", row.status)));
      CHECK_THAT(text, !Contains(std::string(kSecret)));
    }
  }
}

// Credentials from a token file that a test replaces.
struct TokenFileFixture : ClientFixture {
  std::string file = "old-token-old-token-old-token";
  std::string accepted = file;
  TaskGroup tasks{io.get_executor()};
  std::unique_ptr<TlsMaterial> tls;
  std::unique_ptr<Credentials> from_file;

  TokenFileFixture() {
    tls = *TlsMaterial::load({}, {}, clock);
    Config config;
    config.auth = TokenFile{.path = "/token"};
    const Environment environment{
        .read_file = [this](const std::string&, std::size_t) -> Result<std::string> {
          return file;
        }};
    from_file =
        *make_credentials(config, environment, {.clock = clock, .tasks = tasks, .tls = *tls});
    options.credentials = from_file.get();
    server.play_always(Script()
                           .reply([this](const testkit::ReceivedRequest& request) {
                             const bool good =
                                 request.header("Authorization") == "Bearer " + accepted;
                             return http_response(good ? 200 : 401, good ? "{}" : R"({
                               "kind":"Status","reason":"Unauthorized","message":"token expired"})");
                           })
                           .forever());
  }
};

TEST_CASE("A token that expired is read again from its file and the request repeated once",
          "[C1]") {
  TokenFileFixture fixture;
  REQUIRE(fixture.run(fixture.client().send(get_pod())));
  fixture.file = fixture.accepted = "new-token-new-token-new-token";  // rotated
  CHECK(fixture.run(fixture.client().send(create_pod())));
  CHECK(fixture.server.requests().size() == 3);
}

TEST_CASE("A token that expired and was not replaced is an error without the token", "[C1]") {
  TokenFileFixture fixture;
  REQUIRE(fixture.run(fixture.client().send(get_pod())));
  fixture.accepted = "new-token-new-token-new-token";
  const auto response = fixture.run(fixture.client().send(create_pod()));
  REQUIRE_FALSE(response);
  CHECK(response.error().code == Errc::kUnauthorized);
  CHECK(response.error().context ==
        "create pods research/llama-0: token expired (HTTP 401 Unauthorized)");
}

TEST_CASE("A truncated chunk is an error with verb and object, not a shorter object", "[C8]") {
  const std::string object = R"({"metadata":{"name":"llama-0","resourceVersion":"1"}})";
  const std::string whole = testkit::chunked_head() + testkit::chunk(object);
  for (const std::string& bytes :
       {whole.substr(0, whole.size() - 10), whole.substr(0, whole.size() - 1), whole, whole + "0",
        whole + "0\r\n"}) {
    INFO(bytes);
    ClientFixture fixture;
    fixture.server.play(Script().expect().send(bytes));
    const auto pod = fixture.run(Api<Pod>(fixture.client()).get({"research", "llama-0"}));
    REQUIRE_FALSE(pod);
    CHECK(pod.error().code == Errc::kIo);
    CHECK_THAT(pod.error().context, StartsWith("get pods research/llama-0: "));
    CHECK_THAT(pod.error().context, Contains(fixture.server.address()));
  }
}

TEST_CASE("A half-open connection (no FIN) costs one deadline and is not used again", "[L8]") {
  TransportFixture fixture;
  fixture.server.play(Script().expect().send(http_ok("{}")).silence());
  fixture.server.play(Script().expect().send(http_ok("{}")));
  REQUIRE(fixture.send(get_pod()));
  CHECK(fixture.transport().idle_connections() == 1);
  const auto lost = fixture.send(create_pod(), 50ms);
  REQUIRE_FALSE(lost);
  CHECK(lost.error().code == Errc::kTimeout);
  CHECK_THAT(lost.error().context, StartsWith("create pods research/llama-0: "));
  CHECK(fixture.transport().idle_connections() == 0);
  CHECK(fixture.send(get_pod()));
  CHECK(fixture.server.connections() == 2);
}

std::string tower(std::string_view open, std::string_view close) {
  constexpr int kLevels = 10'000;
  std::string text;
  for (int i = 0; i < kLevels; ++i) text += open;
  text += "1";
  for (int i = 0; i < kLevels; ++i) text += close;
  return text;
}

TEST_CASE("JSON 10,000 levels deep is an error that names the object", "[C8]") {
  for (const std::string& deep : {tower("[", "]"), tower("{\"a\":", "}")}) {
    ClientFixture fixture;
    const std::string object = R"({"metadata":{"name":"p","resourceVersion":"1"},"other":)";
    fixture.server.play_always(Script().expect().send(http_ok(object + deep + "}")).forever());
    const ObjectKey key{"research", "llama-0"};
    const auto tree = fixture.run(DynamicApi(fixture.client(), kPodResource).get(key));
    REQUIRE_FALSE(tree);
    CHECK(tree.error().code == Errc::kTooLarge);
    CHECK_THAT(tree.error().context, StartsWith("get pods research/llama-0: "));
    CHECK_THAT(tree.error().context, Contains("nested deeper than"));
    // A type with a table skips what it does not know, however deep.
    CHECK(fixture.run(Api<Pod>(fixture.client()).get(key)));
  }
}

TEST_CASE("JSON 10,000 levels deep in a list is an error that names list and item", "[C8]") {
  ClientFixture fixture;
  fixture.server.play(Script().expect().send(
      http_ok(R"({"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a"}},)" +
              tower("[", "]") + "]}")));
  const auto list =
      fixture.run(DynamicApi(fixture.client(), kPodResource).list({.ns = "research"}));
  REQUIRE_FALSE(list);
  CHECK(list.error().code == Errc::kTooLarge);
  CHECK_THAT(list.error().context, StartsWith("list pods in research: items[1]"));
}

TEST_CASE("Invalid UTF-8 is an error that names the object", "[C8]") {
  for (const std::string& bad :
       {std::string("\xff"), std::string("\xc3("), std::string("\xed\xa0\x80"),
        std::string("\xf5\x80\x80\x80"), std::string("caf\xe9")}) {
    ClientFixture fixture;
    fixture.server.play_always(
        Script()
            .expect()
            .send(http_ok(R"({"metadata":{"name":")" + bad + R"(","resourceVersion":"1"}})"))
            .forever());
    const auto pod = fixture.run(Api<Pod>(fixture.client()).get({"research", "llama-0"}));
    REQUIRE_FALSE(pod);
    CHECK(pod.error().code == Errc::kCorrupt);
    CHECK_THAT(pod.error().context, StartsWith("get pods research/llama-0: "));
    const auto tree =
        fixture.run(DynamicApi(fixture.client(), kPodResource).get({"research", "llama-0"}));
    REQUIRE_FALSE(tree);
    CHECK(tree.error().code == Errc::kCorrupt);
  }
}

}  // namespace
}  // namespace amdahl::kube
