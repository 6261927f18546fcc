// Small files: the last word of a container for its pod, markers, hostfiles.
//
// The termination message is written in place: the kubelet mounted that very file, so it cannot be
// replaced by another. Thread: any. Failure: kIo with the path.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "operator/api/report.hpp"

namespace amdahl::launch {

Result<void> write_termination_log(const std::string& path, std::string_view text);
// For the supervisor whose observer did not get so far. An empty path is none.
void write_termination_log_if_empty(const std::string& path, const api::Report& report);

// A whole file of at most `bytes_max`; kNotFound, kTooLarge or kIo.
Result<std::string> read_small_file(const std::string& path, std::size_t bytes_max);
// The text of a second hosts file; empty without a path or a file.
inline constexpr std::size_t kHostsFileBytesMax = std::size_t{1} << 20U;
std::string read_hosts(const std::string& path);
// Through a temporary file beside it, so that a reader sees all or nothing.
Result<void> write_file_atomically(const std::string& path, std::string_view text, unsigned mode);

}  // namespace amdahl::launch
