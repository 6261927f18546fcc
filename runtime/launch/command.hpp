// The user's command as it is started, and what is put into its environment.
//
// With Torchrun and DeepSpeed a command is a script and its arguments: `train.py`, `python
// train.py`, `python -m train` and `python -mtrain` become `python -m torch.distributed.run ...`;
// PET_* variables carry the flags. Any other command (torchrun, deepspeed, accelerate, a shell)
// runs as it is, with the same variables, and must start the processes itself: world.hpp checks
// that it did. Pure. Failure: none.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/launch/settings.hpp"
#include "runtime/launch/variables.hpp"

namespace amdahl::launch {

// `python`: the interpreter of a command that names only the script.
std::vector<std::string> start_command(Runtime runtime, std::vector<std::string> command,
                                       std::string python);
// Whether the words are those of a program that starts a world: torchrun, deepspeed, accelerate.
bool is_launcher(std::span<const std::string_view> command);

// Paths of ours that the trainer is told; empty ones are not.
struct OwnFiles {
  std::string socket = {};
  std::string checkpoint_socket = {};
  std::string error_file = {};
  std::string hostfile = {};
  std::string hooks = {};  // a folder of Python modules
};
Variables trainer_variables(const Settings& settings, const OwnFiles& files, Variables variables);

// "llama-1-0.llama slots=8\n..." for scripts that insist on the deepspeed launcher.
std::string hostfile_text(const Settings& settings);

}  // namespace amdahl::launch
