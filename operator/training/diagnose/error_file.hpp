// The file in which torchrun leaves the first error of a worker (TORCHELASTIC_ERROR_FILE): JSON
// with a message, the Python traceback and the time. Here it is the termination message of the
// container, so it may be cut after 4096 bytes, in the middle of anything. The last report of our
// own launcher is read too: it has the type and the place of the error beside its message.
//
// Pure; never throws; memory is bounded by the input. Failure: nullopt when it is not such a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace amdahl::training {

struct ErrorFile {
  std::string message = {};    // "KeyError: 'x'"; only "'x'" where the type is given
  std::string type = {};       // "KeyError"
  std::string where = {};      // "train.py:12 in main"
  std::string traceback = {};  // empty when the file was cut before it
  std::optional<std::int64_t> timestamp = {};  // seconds since 1970
};

std::optional<ErrorFile> parse_error_file(std::string_view text);

}  // namespace amdahl::training
