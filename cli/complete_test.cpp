#include "cli/complete.hpp"

#include <catch2/catch.hpp>

namespace amdahl::cli {
namespace {

TEST_CASE("Completion knows where the name of a job may stand") {
  struct Row {
    std::vector<const char*> words;  // the last is being typed
    bool names;
    std::string begin;
  };
  const Row rows[] = {
      {{}, false, ""},
      {{""}, false, ""},
      {{"des"}, false, "des"},
      {{"describe", ""}, true, ""},
      {{"describe", "lla"}, true, "lla"},
      {{"describe", "-"}, false, "-"},
      {{"pause", "a", "b"}, true, "b"},
      {{"wait", "-n", "research", "l"}, true, "l"},
      {{"wait", "-n", "res"}, false, ""},
      {{"wait", "--for=Paused", ""}, true, ""},
      {{"logs", ""}, true, ""},
      {{"logs", "a", ""}, false, ""},
      {{"logs", "tj/l"}, true, "l"},
      {{"logs", "pod/l"}, false, "l"},
      {{"get", "l"}, true, "l"},
      {{"get", "pods", ""}, false, ""},
      {{"get", "tj", ""}, true, ""},
      {{"delete", ""}, false, ""},
      {{"delete", "tj", ""}, true, ""},
      {{"local", ""}, false, ""},
      {{"submit", ""}, false, ""},
  };
  for (const Row& row : rows) {
    const CompletionQuery query = completion_query(row.words);
    INFO((row.words.empty() ? "" : row.words.front()) << " ... " << row.begin);
    CHECK(query.names == row.names);
    CHECK(query.begin == row.begin);
  }
}

TEST_CASE("Completion looks where the command line looks") {
  const std::vector<const char*> words = {"cancel", "--kubeconfig=/k", "--context", "c",
                                          "-n",     "research",        "first",     "tj/s"};
  const CompletionQuery query = completion_query(words);
  CHECK(query.access.kubeconfig == "/k");
  CHECK(query.access.context == "c");
  CHECK(query.access.ns == "research");
  CHECK(query.typed == std::vector<std::string>{"first"});
  CHECK(query.prefix == "tj/");
}

TEST_CASE("Completion offers what fits, and nothing that a shell would expand") {
  const std::vector<const char*> words = {"pause", "llama-1", "lla"};
  const std::vector<std::string> names = {"llama-1",       "llama-2", "other", "llama$(reboot)",
                                          "llama`reboot`", "llama 3", "llama;"};
  CHECK(offers(completion_query(words), names) == std::vector<std::string>{"llama-2"});
  const std::vector<const char*> slash = {"logs", "tj/ot"};
  CHECK(offers(completion_query(slash), names) == std::vector<std::string>{"tj/other"});
}

}  // namespace
}  // namespace amdahl::cli
