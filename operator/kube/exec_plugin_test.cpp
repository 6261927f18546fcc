#include "operator/kube/exec_plugin.hpp"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "base/test_certificates.hpp"

namespace amdahl::kube {
namespace {
using namespace std::chrono_literals;

constexpr std::string_view kV1 = "client.authentication.k8s.io/v1";

std::string printed(std::string_view status) {
  return fmt::format(R"({{"apiVersion":"{}","kind":"ExecCredential","status":{}}})", kV1, status);
}

Config config_for(std::string command) {
  Config config;
  config.server = *parse_url("https://10.0.0.1:6443");
  config.auth =
      ExecSpec{.command = std::move(command),
               .arguments = {"get", "a b"},
               .variables = {{.name = "EXTRA", .value = "1"}, {.name = "HOME", .value = "/x"}},
               .api_version = std::string(kV1),
               .interactive = InteractiveMode::kNever};
  return config;
}

// A plugin that takes a second of virtual time and prints what the test says.
struct FakePlugin {
  int runs = 0;
  Result<SubprocessOutcome> next = SubprocessOutcome{};
  SubprocessSpec spec;
  Monotonic deadline;

  static Task<Result<SubprocessOutcome>> go(FakePlugin& self, SubprocessSpec spec, Clock& clock,
                                            Monotonic deadline) {
    ++self.runs;
    self.spec = std::move(spec);
    self.deadline = deadline;
    if (!co_await clock.sleep_for(1s)) co_return fail(Errc::kCancelled, "cancelled");
    co_return self.next;
  }
  ExecPlugin::Runner runner() {
    return [this](SubprocessSpec process, Clock& clock, Monotonic limit) {
      return go(*this, std::move(process), clock, limit);
    };
  }
  void print(std::string_view status) { next = SubprocessOutcome{.out = printed(status)}; }
};

std::string shown(const Result<std::string>& token) {
  return token ? *token : fmt::format("<{}: {}>", name(token.error().code), token.error().context);
}

struct World {
  boost::asio::io_context io;
  ManualClock clock{*parse_time("2026-11-16T08:00:00Z")};
  TaskGroup tasks{io.get_executor()};
  FakePlugin fake;
  std::unique_ptr<TlsMaterial> tls = std::move(TlsMaterial::load({}, read_file, clock).value());
  ExecPlugin plugin{config_for("/usr/bin/env"),
                    {.variables = {{"HOME", "/h"}, {"PATH", "/bin"}}},
                    {.clock = clock, .tasks = tasks, .tls = *tls},
                    fake.runner()};

  std::string token(std::chrono::nanoseconds limit = 100s) {
    return shown(run_simulated(io, clock, plugin.token(clock.monotonic() + limit)));
  }
};

TEST_CASE("A plugin's token is kept until shortly before it expires", "[C4]") {
  World world;
  world.fake.print(R"({"token":"one","expirationTimestamp":"2026-11-16T09:00:00Z"})");
  CHECK(world.token() == "one");
  world.fake.print(R"({"token":"two"})");
  world.clock.advance(3600s - 1s - kExecLeeway - 1s);  // the run itself took one second
  CHECK(world.token() == "one");
  CHECK(world.fake.runs == 1);
  world.clock.advance(1s);
  CHECK(world.token() == "two");
  world.clock.advance(24h * 365);
  CHECK(world.token() == "two");  // no expiry: kept until the server refuses it
  CHECK(world.fake.runs == 2);
}

TEST_CASE("A token that lives for seconds is not fetched for every request", "[C4]") {
  World world;
  world.fake.print(R"({"token":"one","expirationTimestamp":"2026-11-16T08:00:09Z"})");
  CHECK(world.token() == "one");
  world.clock.advance(5s);
  CHECK(world.token() == "one");
  CHECK(world.fake.runs == 1);
  world.clock.advance(2s);
  world.fake.print(R"({"token":"two"})");
  CHECK(world.token() == "two");
}

TEST_CASE("Clock jumps: a plugin runs again when its credential seems over, and not before",
          "[C4]") {
  World world;
  world.fake.print(R"({"token":"one","expirationTimestamp":"2026-11-16T09:00:00Z"})");
  CHECK(world.token() == "one");
  world.clock.jump_wall(-24h);
  CHECK(world.token() == "one");
  CHECK(world.fake.runs == 1);
  world.fake.print(R"({"token":"two"})");
  world.clock.jump_wall(48h);
  CHECK(world.token() == "two");
  CHECK(world.fake.runs == 2);
}

TEST_CASE("A plugin gets its arguments, our variables, its own and the request", "[C4]") {
  World world;
  world.fake.print(R"({"token":"one"})");
  const Monotonic start = world.clock.monotonic();
  CHECK(world.token() == "one");
  CHECK(world.fake.spec.arguments == std::vector<std::string>{"/usr/bin/env", "get", "a b"});
  CHECK(world.fake.spec.environment ==
        std::vector<std::string>{
            "EXTRA=1", "HOME=/x",
            "KUBERNETES_EXEC_INFO={\"apiVersion\":\"" + std::string(kV1) +
                "\",\"kind\":\"ExecCredential\",\"spec\":{\"interactive\":false}}",
            "PATH=/bin"});
  CHECK(world.fake.deadline == start + kExecTimeMax);
  CHECK(world.fake.spec.stdout_max == kExecOutputMax);
}

Task<void> ask(World& world, std::chrono::nanoseconds limit, std::vector<std::string>& answers) {
  const Monotonic deadline = world.clock.monotonic() + limit;
  answers.push_back(shown(co_await world.plugin.token(deadline)));
}

Task<bool> ask_five_times(World& world, std::vector<std::string>& answers) {
  TaskGroup callers(world.io.get_executor());
  for (int i = 0; i < 5; ++i) callers.spawn("caller", ask(world, 10s, answers));
  co_return co_await callers.join(world.clock, world.clock.monotonic() + 20s);
}

TEST_CASE("Concurrent callers share one run, success or failure", "[C4]") {
  World world;
  std::vector<std::string> answers;
  world.fake.next = SubprocessOutcome{.exit_code = 1};
  REQUIRE(run_simulated(world.io, world.clock, ask_five_times(world, answers)));
  CHECK(answers ==
        std::vector<std::string>(5, "<unauthorized: exec plugin /usr/bin/env: exit code 1>"));
  CHECK(world.fake.runs == 1);

  answers.clear();
  world.clock.advance(kExecPause);
  world.fake.print(R"({"token":"one"})");
  REQUIRE(run_simulated(world.io, world.clock, ask_five_times(world, answers)));
  CHECK(answers == std::vector<std::string>(5, "one"));
  CHECK(world.fake.runs == 2);
}

TEST_CASE("A caller that gives up does not stop the run", "[C4]") {
  World world;
  world.fake.print(R"({"token":"one"})");
  CHECK_THAT(world.token(500ms), Catch::StartsWith("<timeout: exec plugin /usr/bin/env: "));
  CHECK(world.token() == "one");
  CHECK(world.fake.runs == 1);
}

TEST_CASE("A failed plugin is left alone for a moment", "[C4]") {
  World world;
  world.fake.next = SubprocessOutcome{.out = "junk"};
  const std::string first = world.token();
  CHECK_THAT(first, Catch::Contains("not an ExecCredential"));
  CHECK(world.token() == first);
  CHECK(world.fake.runs == 1);
  world.clock.advance(kExecPause);
  world.fake.print(R"({"token":"one"})");
  CHECK(world.token() == "one");
}

TEST_CASE("A 401 fetches a new credential if ours is older than the request", "[C4]") {
  World world;
  world.fake.print(R"({"token":"one"})");
  CHECK(world.token() == "one");
  world.fake.print(R"({"token":"two"})");
  const Monotonic obtained = world.clock.monotonic();
  world.clock.advance(kExecPause);
  world.plugin.rejected(obtained);  // began before the credential was there
  CHECK(world.token() == "one");
  world.plugin.rejected(world.clock.monotonic());
  CHECK(world.token() == "two");
  CHECK(world.fake.runs == 2);
}

TEST_CASE("A server that refuses everything does not make a plugin run without pause", "[C4]") {
  World world;
  world.fake.print(R"({"token":"one"})");
  CHECK(world.token() == "one");
  for (int i = 0; i < 100; ++i) {
    world.clock.advance(10ms);
    world.plugin.rejected(world.clock.monotonic());
    CHECK(world.token() == "one");
  }
  CHECK(world.fake.runs == 1);
}

TEST_CASE("A plugin's certificate goes into the TLS material", "[C2][C4]") {
  World world;
  CertificateAuthority authority;
  const auto pair_status = [&](const std::string& certificate, const std::string& key) {
    return nlohmann::json{{"clientCertificateData", certificate}, {"clientKeyData", key}}.dump();
  };
  const Certificate first = authority.issue();
  world.fake.print(pair_status(first.certificate_pem, first.key_pem));
  CHECK(world.token().empty());
  CHECK(world.tls->pem().certificate == first.certificate_pem);
  CHECK(world.tls->client_generation() == 2);

  const Certificate second = authority.issue();
  world.fake.print(pair_status(second.certificate_pem, first.key_pem));
  world.clock.advance(kExecPause);
  world.plugin.rejected(world.clock.monotonic());
  CHECK_THAT(world.token(), Catch::Contains("the key does not belong to the certificate"));
  CHECK(world.tls->pem().certificate == first.certificate_pem);
}

Task<bool> stop_while_waiting(World& world, std::vector<std::string>& answers) {
  TaskGroup callers(world.io.get_executor());
  callers.spawn("caller", ask(world, 100s, answers));
  co_await world.clock.sleep_for(500ms);
  world.tasks.stop();
  co_return co_await callers.join(world.clock, world.clock.monotonic() + 10s);
}

TEST_CASE("When the process stops, callers hear it at once", "[C4]") {
  World world;
  std::vector<std::string> answers;
  REQUIRE(run_simulated(world.io, world.clock, stop_while_waiting(world, answers)));
  CHECK(world.tasks.empty());
  REQUIRE(answers.size() == 1);
  CHECK_THAT(answers[0], Catch::StartsWith("<cancelled"));
  CHECK_THAT(world.token(), Catch::StartsWith("<cancelled"));
}

}  // namespace
}  // namespace amdahl::kube
