// Opens files in folders that a pod's programs can write to.
//
// Such a program may replace any file by a FIFO, which would block the one thread of the embedded
// cluster, or by a link to a file that is not the pod's.
// Thread: any. Failure: Errc::kIo with the path; Errc::kInvalid for what is not a regular file.
#pragma once

#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace amdahl::local {

inline constexpr unsigned kPodFileMode = 0600;

// `flags` as for open(2), `mode` for a file that it makes. Does not wait and follows no link.
Result<Fd> open_pod_file(const std::string& path, int flags, unsigned mode = kPodFileMode);

}  // namespace amdahl::local
