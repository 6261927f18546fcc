#include "cli/command_line.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "cli/resource_names.hpp"

namespace amdahl::cli {
namespace {

// The command line without a process: what it prints, and its exit code.
struct Said {
  int code = -1;
  std::string out = {};
  std::string err = {};
};

Said say(std::vector<const char*> words) {
  words.insert(words.begin(), "amdahl");
  ManualClock clock;
  Said said;
  Program program{.clock = clock};
  program.terminal = {.out = [&](std::string_view text) { said.out += text; },
                      .err = [&](std::string_view text) { said.err += text; },
                      .input = [](std::size_t) { return Result<std::string>(""); },
                      .confirm = [](std::string_view) { return false; }};
  program.environment.variables["HOME"] = "/nowhere";
  said.code = run(program, words);
  return said;
}

TEST_CASE("Every verb has help with an example") {
  const std::vector<std::vector<const char*>> verbs = {{},
                                                       {"local", "up"},
                                                       {"local", "status"},
                                                       {"local", "down"},
                                                       {"local", "reset"},
                                                       {"apply"},
                                                       {"get"},
                                                       {"delete"},
                                                       {"logs"},
                                                       {"completion"},
                                                       {"submit"},
                                                       {"describe"},
                                                       {"diagnose"},
                                                       {"pause"},
                                                       {"resume"},
                                                       {"cancel"},
                                                       {"rerun"},
                                                       {"wait"},
                                                       {"top"},
                                                       {"checkpoint", "ls"},
                                                       {"checkpoint", "show"},
                                                       {"checkpoint", "verify"},
                                                       {"checkpoint", "gc"},
                                                       {"checkpoint", "pin"},
                                                       {"checkpoint", "unpin"},
                                                       {"checkpoint", "export-safetensors"}};
  for (std::vector<const char*> words : verbs) {
    words.push_back("--help");
    const Said said = say(words);
    INFO(said.out);
    CHECK(said.code == kDone);
    CHECK_THAT(said.out, Catch::Contains("Example"));
    CHECK(said.err.empty());
    for (std::size_t at = 0; at < said.out.size();) {
      const std::size_t end = said.out.find('\n', at);
      CHECK(end - at <= 120);
      at = end + 1;
    }
  }
}

TEST_CASE("A wrong command line is refused with its own exit code") {
  for (const std::vector<const char*>& words :
       std::vector<std::vector<const char*>>{{},
                                             {"nonsense"},
                                             {"local"},
                                             {"local", "up", "--nodes", "0"},
                                             {"logs"},
                                             {"describe"},
                                             {"wait", "llama"},
                                             {"wait", "llama", "--for=Sometime"},
                                             {"pause", "llama", "--wait", "--timeout", "soon"},
                                             {"top", "-o", "name"}}) {
    const Said said = say(words);
    CHECK(said.code == kWrongUsage);
    CHECK_THAT(said.err, Catch::StartsWith("amdahl: ") && Catch::Contains("--help"));
    CHECK(said.out.empty());
  }
}

TEST_CASE("An unknown verb gets a suggestion", "[D11]") {
  CHECK(say({"stop", "x"}).err ==
        "amdahl: unknown verb \"stop\"; did you mean 'amdahl pause' or 'amdahl cancel'?\n"
        "See 'amdahl --help'.\n");
  CHECK_THAT(say({"local", "start"}).err, Catch::Contains("did you mean 'amdahl local up'?"));
  CHECK_THAT(say({"checkpoint", "list"}).err, Catch::Contains("'amdahl checkpoint ls'"));
  CHECK_THAT(say({}).err, Catch::Contains("no verb was given"));
  CHECK_THAT(say({"logs"}).err, Catch::StartsWith("amdahl: name is required"));
}

TEST_CASE("A verb that fails says so on standard error") {
  const Said said = say({"get", "pods", "--kubeconfig", "/nowhere/config"});
  CHECK(said.code == kFailed);
  CHECK_THAT(said.err, Catch::StartsWith("amdahl: ") && Catch::Contains("/nowhere/config"));
  CHECK(say({"local", "status"}).code == kNotRunning);
}

TEST_CASE("Text of others that is printed does not move the cursor", "[A1]") {
  const Said failed = say({"get", "pods", "--kubeconfig",
                           "/nowhere/\x1b[31mRED\x1b]0;t\x07\xc2\x9b"
                           "1m\x7f\xe2\x80\xae/config"});
  CHECK(failed.code == kFailed);
  CHECK_THAT(failed.err, Catch::Contains("/nowhere/ [31mRED ]0;t  1m  /config") &&
                             Catch::EndsWith("\n") && !Catch::Contains("\x1b"));
  const Said refused = say({"\x1b[31m"});
  CHECK(refused.code == kWrongUsage);
  CHECK_THAT(refused.err, !Catch::Contains("\x1b") && Catch::Contains("\nSee 'amdahl --help'"));
}

TEST_CASE("A number that is too small is refused with the smallest one", "[D11]") {
  struct Row {
    std::vector<const char*> words;
    std::string why;
  };
  const Row rows[] = {
      {{"logs", "x", "--attempt", "-1"}, "--attempt: must be a whole number from 1 on, is -1"},
      {{"logs", "x", "--attempt", "0"}, "--attempt: must be a whole number from 1 on, is 0"},
      {{"logs", "x", "--since", "1.5"}, "--since: must be a whole number from 1 on, is 1.5"},
      {{"logs", "x", "--rank", "-1"}, "--rank: must be a whole number from 0 on, is -1"},
      {{"logs", "x", "--tail", "all"}, "--tail: must be a whole number from 0 on, is all"},
      {{"delete", "pod", "x", "--grace-period", "-2"},
       "--grace-period: must be a whole number from 0 on, is -2"},
      {{"checkpoint", "gc", "/x", "--keep-every", "-2"},
       "--keep-every: must be a whole number from 0 on, is -2"},
      {{"checkpoint", "gc", "/x", "--bytes-max", "-2"},
       "--bytes-max: must be a whole number from 0 on, is -2"},
  };
  for (const Row& row : rows) {
    const Said said = say(row.words);
    CHECK(said.code == kWrongUsage);
    CHECK_THAT(said.err, Catch::StartsWith("amdahl: " + row.why + "\n"));
  }
}

TEST_CASE("Help and advice use the name that the program was called by") {
  ManualClock clock;
  std::string out;
  Program program{.clock = clock, .called = "kubectl amdahl"};
  program.terminal.out = [&](std::string_view text) { out += text; };
  const std::vector<const char*> words = {"/usr/bin/kubectl-amdahl", "get", "--help"};
  CHECK(run(program, words) == kDone);
  CHECK_THAT(out, Catch::Contains("Usage: kubectl amdahl get ") &&
                      Catch::Contains("\n  kubectl amdahl get pods -A -o wide\n") &&
                      Catch::Contains("'kubectl amdahl local up'") &&
                      !Catch::Contains("kubectl kubectl") && !Catch::Contains("\n  amdahl "));
}

TEST_CASE("Completion is silent when there is no cluster") {
  const Said said = say({"__complete", "describe", ""});
  CHECK(said.code == kDone);
  CHECK(said.out.empty());
  CHECK(said.err.empty());
}

TEST_CASE("Words name kinds and objects as kubectl reads them") {
  struct Row {
    std::vector<std::string> words;
    std::string meaning;  // "type:name,name type:..."; "" for a refusal
  };
  const Row rows[] = {
      {{"pods"}, "pods:"},
      {{"pods", "a", "b"}, "pods:a,b,"},
      {{"pods,svc"}, "pods: svc:"},
      {{"pod/a", "svc/b"}, "pod:a, svc:b,"},
      {{"deployments.apps/a"}, "deployments.apps:a,"},
      {{}, ""},
      {{","}, ""},
      {{"pods,svc", "a"}, ""},
      {{"pod/a", "b"}, ""},
      {{"pod", "svc/b"}, ""},
      {{"pod/"}, ""},
      {{"/a"}, ""},
  };
  for (const Row& row : rows) {
    const auto targets = parse_targets(row.words);
    std::string meaning;
    for (const Target& target : targets ? *targets : std::vector<Target>()) {
      meaning += (meaning.empty() ? "" : " ") + target.type + ":";
      for (const std::string& name : target.names) meaning += name + ",";
    }
    CHECK(meaning == row.meaning);
  }
}

TEST_CASE("A kind is named with its group") {
  CHECK(kind_word({.group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap"}) ==
        "configmap");
  CHECK(kind_word(
            {.group = "apps", .version = "v1", .plural = "deployments", .kind = "Deployment"}) ==
        "deployment.apps");
}

}  // namespace
}  // namespace amdahl::cli
