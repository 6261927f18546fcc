// What follows `amdahl-launch run`: variables for the trainer, then its command.
//
// Variables stand among the arguments since that is where they cost an API server least. A node
// fills in $(NAME) of the command from `env` alone, so those given here are filled in here; it has
// made $(NAME) of $$(NAME) by then, so these names cannot be escaped. Pure. Failure: none; an
// argument that is not ours begins the command.
#pragma once

#include <string>
#include <vector>

#include "runtime/launch/variables.hpp"

namespace amdahl::launch {

struct RunArguments {
  std::vector<std::string> variables = {};  // "NAME=value"
  std::vector<std::string> command = {};
};

// "--env=NAME=value"..., "--" if there is one, the command.
RunArguments read_run_arguments(const std::vector<std::string>& arguments);

// The environment as it was given, with these on top.
Variables with_given(Variables environment, const RunArguments& given);

}  // namespace amdahl::launch
