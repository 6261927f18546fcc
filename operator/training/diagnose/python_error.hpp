// Python tracebacks in a text, each line of which may carry a prefix such as "[rank0]: ".
//
// Pure; bounded by kTracebacksMax and kFramesMax; never throws. Failure: nullopt.
#pragma once

#include <optional>
#include <string_view>

#include "operator/training/diagnose/failure_text.hpp"

namespace amdahl::training {

// The last exception that is the script's own: the launcher's report about a worker is skipped, and
// another rank's is preferred to one that says only that a peer is gone.
std::optional<PythonError> find_python_error(std::string_view text);

// "KeyError: 'x'": how an exception is written on one line.
std::optional<PythonError> parse_python_error(std::string_view line);

// Whether an exception of this name tells of another rank's end.
bool speaks_of_peer(const PythonError& error);

}  // namespace amdahl::training
