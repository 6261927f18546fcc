// Files that are replaced in one step: a reader sees the old text or the new one, never half.
//
// Thread: any. Failure: Errc::kIo names the file and the cause; the old file is then still there.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace amdahl::local {

inline constexpr mode_t kOwnerOnly = 0600;

// On the disk when it returns. `mode` is set as it is, whatever the umask.
Result<void> write_whole_file(const std::string& path, std::string_view text,
                              mode_t mode = kOwnerOnly);

// "write PATH: No space left on device"
std::unexpected<Error> file_error(std::string_view what, const std::string& path, int error);

}  // namespace amdahl::local
