#include "cli/suggestion.hpp"

#include <catch2/catch.hpp>

namespace amdahl::cli {
namespace {

TEST_CASE("An unknown verb is answered with the verbs that were probably meant", "[D11]") {
  const std::vector<std::string> verbs = {"submit", "get",   "describe", "logs",   "pause",
                                          "resume", "rerun", "cancel",   "delete", "local"};
  struct Row {
    const char* word;
    const char* said;
  };
  const Row rows[] = {
      {"stop", "unknown verb \"stop\"; did you mean 'amdahl pause' or 'amdahl cancel'?"},
      {"restart", "unknown verb \"restart\"; did you mean 'amdahl rerun'?"},
      {"puase", "unknown verb \"puase\"; did you mean 'amdahl pause'?"},
      {"submti", "unknown verb \"submti\"; did you mean 'amdahl submit'?"},
      {"log", "unknown verb \"log\"; did you mean 'amdahl logs'?"},
      {"desc", "unknown verb \"desc\"; did you mean 'amdahl describe'?"},
      {"zzz",
       "unknown verb \"zzz\"; the verbs are submit, get, describe, logs, pause, resume, rerun, "
       "cancel, delete, local"},
  };
  for (const Row& row : rows) CHECK(unknown_verb_text(row.word, "", verbs) == row.said);
  CHECK(unknown_verb_text("start", "local ", {"up", "down"}) ==
        "unknown verb \"start\"; did you mean 'amdahl local up'?");
}

}  // namespace
}  // namespace amdahl::cli
