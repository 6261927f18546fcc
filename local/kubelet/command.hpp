// A container of a pod as a command of this machine: arguments, variables, folder. Pure.
//
// Failure: Errc::kInvalid when a variable cannot be made (CreateContainerConfigError to users),
// Errc::kTerminal when there is no command to run (CreateContainerError).
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "local/kubelet/downward.hpp"
#include "local/kubelet/types_pod.hpp"

namespace amdahl::local {

using Variables = std::vector<std::pair<std::string, std::string>>;
using Bytes = std::map<std::string, std::string>;  // a config map or secret: key, content

// What a pod refers to, as fetched; what is not there is not in here.
struct Sources {
  std::map<std::string, Bytes> config_maps = {};
  std::map<std::string, Bytes> secrets = {};
  std::map<std::string, std::string> tokens = {};  // by audience
};

// The names of everything a pod refers to.
struct SourceNames {
  std::set<std::string> config_maps = {};
  std::set<std::string> secrets = {};
  std::map<std::string, std::int64_t> token_seconds = {};  // by audience
};
SourceNames referenced(const Pod& pod);

// What the kubelet knows beside the pod.
struct CommandFacts {
  std::string address = {};  // the pod's
  NodeRoom node = {};
  Variables before = {};       // of the machine and the cluster; the container's own come later
  Variables after = {};        // what nobody may override
  std::string directory = {};  // where a container without workingDir starts
};

struct Command {
  std::vector<std::string> arguments = {};
  Variables variables = {};  // each name once
  std::string directory = {};
};

Result<Command> make_command(const Pod& pod, const Container& container, const Sources& sources,
                             const CommandFacts& facts);

}  // namespace amdahl::local
