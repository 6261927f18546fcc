// The embedded cluster in this process, until somebody ends it.
//
// Thread: one. Failure: what could not be started, with the next step.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.hpp"
#include "cli/local_options.hpp"
#include "cli/program.hpp"

namespace amdahl::cli {

struct ServerEvents {
  std::function<void(std::string_view step)> progress = {};
  std::function<void(const local::LocalCluster&)> ready = {};
};

// Takes the lock of the folder, serves until SIGTERM or SIGINT, stops in order.
Result<void> run_local_server(Program& program, const LocalOptions& options,
                              const ServerEvents& events);

}  // namespace amdahl::cli
