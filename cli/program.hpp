// What a verb may use of the outside, made by main(): time, chance, environment, terminal.
//
// Thread: one. Lifetime: outlives every verb.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "operator/kube/environment.hpp"

namespace amdahl::cli {

// Of the process; docs/reference/cli.md tells users.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 2;
inline constexpr int kNotRunning = 3;  // local status
inline constexpr int kTimedOut = 4;    // wait, and --wait of pause, resume and cancel

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

// Verbs print text of others, so run() takes from out, err and confirm what a terminal would obey.
struct Terminal {
  std::function<void(std::string_view)> out = {};  // standard output
  std::function<void(std::string_view)> err = {};  // standard error
  // Standard output as it is, for logs and for what moves the cursor; run() makes it from out.
  std::function<void(std::string_view)> bytes = {};
  bool live = false;                      // standard output can be written over
  std::function<ScreenSize()> size = {};  // of it, when it is live
  // All of standard input, up to that many bytes.
  std::function<Result<std::string>(std::size_t bytes_max)> input = {};
  // Asks a person; false when there is none.
  std::function<bool(std::string_view question)> confirm = {};
};

struct Program {
  Clock& clock;
  std::uint64_t seed = 0;
  kube::Environment environment = {};
  Terminal terminal = {};
  std::function<void()> exit_at_once = {};  // for a second Ctrl-C
  std::string shim = {};                    // the program that holds a container
  std::string launch = {};                  // amdahl-launch; empty: not installed
  std::string called = "amdahl";            // what the user types, for help and advice
};

// What the command line asked for: runs after it was read, and gives the exit code.
using Action = std::function<Result<int>()>;

}  // namespace amdahl::cli
