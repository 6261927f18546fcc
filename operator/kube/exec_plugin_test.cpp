#include "operator/kube/exec_plugin.hpp"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

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

// Real programs: a script in a directory of its own, run in real time.
struct Script {
  explicit Script(std::string_view body) {
    REQUIRE(::mkdtemp(path) != nullptr);
    std::ofstream(file()) << "#!/bin/sh\n" << body << "\n";
    std::filesystem::permissions(file(), std::filesystem::perms::owner_all);
  }
  ~Script() { std::filesystem::remove_all(path); }
  std::string file() const { return std::string(path) + "/plugin"; }
  char path[32] = "/tmp/amdahl-kube-XXXXXX";
};

// `limit` stands for the minute that a plugin may take.
std::string token_of_script(const Script& script, const Config& config,
                            std::chrono::milliseconds limit = 15s) {
  boost::asio::io_context io;
  RealClock clock;
  TaskGroup tasks(io.get_executor());
  const auto tls = TlsMaterial::load({}, read_file, clock);
  const auto run_briefly = [limit](SubprocessSpec spec, Clock& time, Monotonic deadline) {
    return run_subprocess(std::move(spec), time, std::min(deadline, time.monotonic() + limit));
  };
  ExecPlugin plugin(config, {.variables = {{"PATH", std::string(script.path) + ":/usr/bin:/bin"}}},
                    {.clock = clock, .tasks = tasks, .tls = **tls}, run_briefly);
  return shown(run_until_complete(io, plugin.token(clock.monotonic() + 20s)));
}

TEST_CASE("A real plugin in PATH gives its token", "[C4]") {
  const Script script(R"(test "$1:$2" = "get:a b" || exit 7
case "$KUBERNETES_EXEC_INFO" in *ExecCredential*) ;; *) exit 8 ;; esac
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",'
printf '"status":{"token":"%s-%s"}}' "$EXTRA" real)");
  CHECK(token_of_script(script, config_for("plugin")) == "1-real");
  CHECK(token_of_script(script, config_for(script.file())) == "1-real");
}

TEST_CASE("Every way a real plugin can fail is an error with its name", "[C4]") {
  const auto check = [](std::string_view body, const std::string& expected,
                        std::chrono::milliseconds limit = 15s) {
    INFO(body);
    const std::string token = token_of_script(Script(body), config_for("plugin"), limit);
    CHECK_THAT(token, Catch::Contains("exec plugin plugin: "));
    CHECK_THAT(token, Catch::Contains(expected));
    CHECK_THAT(token, !Catch::Contains("s3cret"));
  };
  check("echo 'please log in' >&2; exit 1", "exit code 1: please log in");
  check("echo 'password=s3cret-s3cret-s3cret-s3cret' >&2; exit 2", "exit code 2");
  check("printf '\\033[31mred' >&2; exit 1", "exit code 1:  [31mred");
  check("kill -KILL $$", "ended by signal 9");
  check("echo garbage s3cret", "not an ExecCredential");
  check("head -c 10000000 /dev/zero", "more than 1048576 bytes");
  check(
      "printf '{\"apiVersion\":\"client.authentication.k8s.io/v1beta1\",'\n"
      "printf '\"kind\":\"ExecCredential\",\"status\":{\"token\":\"s3cret\"}}'",
      "another apiVersion");
  check("exec sleep 1000", "deadline passed", 50ms);
}

TEST_CASE("A missing plugin shows the hint how to get it", "[C4]") {
  const Script script("exit 0");
  Config config = config_for("no-such-plugin");
  std::get<ExecSpec>(config.auth).install_hint = "Run: gcloud components install it.";
  CHECK(token_of_script(script, config) ==
        "<not_found: exec plugin no-such-plugin: there is no such program in PATH. Run: gcloud "
        "components install it.>");
  config = config_for("plugin");
  config.exec_policy.allow_all = false;
  CHECK_THAT(token_of_script(script, config), Catch::Contains("not in the list of permitted"));
}

}  // namespace
}  // namespace amdahl::kube
