// What `get` shows: tables as the server makes them, or whole objects.
//
// Thread: one. Lifetime: the program outlives the task. Failure: the server's own, or a watch that
// cannot be resumed.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/task.hpp"
#include "cli/cluster_access.hpp"
#include "cli/program.hpp"
#include "cli/resource_names.hpp"

namespace amdahl::cli {

// What `get` without a word means.
inline constexpr std::string_view kJobsWord = "trainingjobs.amdahl.dev";

struct GetOptions {
  std::vector<std::string> words = {};
  bool all_namespaces = false;
  std::string labels = {};
  std::string fields = {};
  std::string output = {};  // "", "wide", "json", "yaml" or "name"
  bool watch = false;
  bool no_headers = false;
  bool bare_names = false;  // a word that is no kind may be the name of a TrainingJob
};

Task<Result<int>> get_objects(Program& program, Access access, GetOptions options,
                              std::vector<Target> targets);

}  // namespace amdahl::cli
