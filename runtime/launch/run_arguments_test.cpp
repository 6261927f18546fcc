#include "runtime/launch/run_arguments.hpp"

#include <catch2/catch.hpp>

namespace amdahl::launch {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("Variables come before the command, and lie over the environment") {
  const RunArguments read = read_run_arguments(
      {"--env=RANK=3", "--env=URL=http://a/?b=c", "--env=EMPTY=", "--", "python", "--env=MINE=1"});
  CHECK(read.command == Words{"python", "--env=MINE=1"});
  const Variables all = with_given(Variables({"RANK=9", "HOME=/root"}), read);
  CHECK(all.get("RANK") == "3");
  CHECK(all.get("URL") == "http://a/?b=c");
  CHECK((all.has("EMPTY") && all.get("EMPTY").empty()));
  CHECK(all.get("HOME") == "/root");
}

TEST_CASE("A command may follow without more ado, and there may be none") {
  CHECK(read_run_arguments({"true"}).command == Words{"true"});
  CHECK(read_run_arguments({"--", "--"}).command == Words{"--"});
  CHECK(read_run_arguments({"--env=A=1"}).command.empty());
  CHECK(read_run_arguments({}).command.empty());
  // What is no variable is passed over.
  CHECK(with_given(Variables(), read_run_arguments({"--env==1", "--env=A"})).entries().empty());
}

TEST_CASE("References to what was given are filled in, others stay") {
  const RunArguments read = read_run_arguments(
      {"--env=RANK=3", "--", "sh", "--rank=$(RANK)/$(RANK)", "$(OTHER) $(RANK", "$RANK", "$()"});
  CHECK(read.command == Words{"sh", "--rank=3/3", "$(OTHER) $(RANK", "$RANK", "$()"});
}

}  // namespace
}  // namespace amdahl::launch
