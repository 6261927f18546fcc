// The plugin as a real program, in real time.
#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "operator/kube/exec_plugin.hpp"

namespace amdahl::kube {
namespace {
using namespace std::chrono_literals;

Config config_for(std::string command) {
  Config config;
  config.server = *parse_url("https://10.0.0.1:6443");
  config.auth =
      ExecSpec{.command = std::move(command),
               .arguments = {"get", "a b"},
               .variables = {{.name = "EXTRA", .value = "1"}, {.name = "HOME", .value = "/x"}},
               .api_version = "client.authentication.k8s.io/v1",
               .interactive = InteractiveMode::kNever};
  return config;
}

std::string shown(const Result<std::string>& token) {
  return token ? *token : fmt::format("<{}: {}>", name(token.error().code), token.error().context);
}

// A script in a directory of its own.
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
                            std::chrono::milliseconds limit = 15s, bool terminal = false) {
  boost::asio::io_context io;
  RealClock clock;
  TaskGroup tasks(io.get_executor());
  const auto tls = TlsMaterial::load({}, read_file, clock);
  const auto run_briefly = [limit](SubprocessSpec spec, Clock& time, Monotonic deadline) {
    return run_subprocess(std::move(spec), time, std::min(deadline, time.monotonic() + limit));
  };
  ExecPlugin plugin(
      config,
      {.variables = {{"PATH", std::string(script.path) + ":/usr/bin:/bin"}}, .terminal = terminal},
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

// Our standard input is this text for a while.
struct TypedInput {
  explicit TypedInput(std::string_view text) {
    int ends[2] = {-1, -1};
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~TypedInput() {
    ::dup2(saved, STDIN_FILENO);
    ::close(saved);
  }
  int saved = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
};

TEST_CASE("Only a plugin that may ask gets our standard input", "[C4]") {
  const Script script(R"(if read -r line; then answer="read-$line"; else answer=end; fi
case "$KUBERNETES_EXEC_INFO" in *'"interactive":true'*) answer="$answer-asked" ;; esac
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",'
printf '"status":{"token":"%s"}}' "$answer")");
  const auto token = [&](InteractiveMode mode, bool terminal) {
    const TypedInput typed("secret-pin\n");
    Config config = config_for("plugin");
    std::get<ExecSpec>(config.auth).interactive = mode;
    return token_of_script(script, config, 15s, terminal);
  };
  CHECK(token(InteractiveMode::kNever, true) == "end");
  CHECK(token(InteractiveMode::kIfAvailable, false) == "end");
  CHECK(token(InteractiveMode::kIfAvailable, true) == "read-secret-pin-asked");
  CHECK(token(InteractiveMode::kAlways, true) == "read-secret-pin-asked");
}

TEST_CASE("A plugin that must ask and has no terminal is not started", "[C4]") {
  const Script script("touch \"$0.ran\"; exit 1");
  Config config = config_for(script.file());
  std::get<ExecSpec>(config.auth).interactive = InteractiveMode::kAlways;
  const std::string token = token_of_script(script, config);
  CHECK_THAT(token, Catch::StartsWith("<unauthorized: exec plugin " + script.file() + ": "));
  CHECK_THAT(token, Catch::Contains("(interactiveMode: Always): standard input is not a terminal"));
  CHECK_FALSE(std::filesystem::exists(script.file() + ".ran"));
}

TEST_CASE("Whether there is a terminal is asked of standard input", "[C4]") {
  {
    const TypedInput pipe("");
    CHECK_FALSE(process_environment().terminal);
  }
  const TypedInput restored("");
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  REQUIRE(terminal >= 0);
  ::dup2(terminal, STDIN_FILENO);
  CHECK(process_environment().terminal);
  ::close(terminal);
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
