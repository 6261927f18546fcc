// The user's command as it is started, and what is put into its environment.
//
// With Torchrun and DeepSpeed `python train.py` becomes `python -m torch.distributed.run train.py`;
// PET_* variables carry the flags. What already starts processes by itself (torchrun, deepspeed,
// accelerate, a script) stays as it is. Pure. Failure: none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/launch/settings.hpp"
#include "runtime/launch/variables.hpp"

namespace amdahl::launch {

std::vector<std::string> start_command(Runtime runtime, std::vector<std::string> command);

// Paths of ours that the trainer is told; empty ones are not.
struct OwnFiles {
  std::string socket = {};
  std::string checkpoint_socket = {};
  std::string error_file = {};
  std::string hostfile = {};
};
Variables trainer_variables(const Settings& settings, const OwnFiles& files, Variables variables);

// "llama-1-0.llama slots=8\n..." for scripts that insist on the deepspeed launcher.
std::string hostfile_text(const Settings& settings);

}  // namespace amdahl::launch
