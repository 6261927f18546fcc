// Binds folders and files at any path, also where this user may not create one.
//
// A path that is not there needs a parent in which it can be made. The nearest folder that exists
// is covered by an empty file system in memory, its entries are bound into that one by one, and the
// path is made there: the machine's own folder never changes. Below a volume a path is made in the
// volume. Thread: one. Failure: Errc::kIo or kTooLarge, with the path.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "local/kubelet/shim_spec.hpp"

namespace amdahl::local {

inline constexpr std::size_t kMirrorEntriesMax = 4096;  // of a folder that has to be covered

// In a mount namespace of our own. `scratch` is an empty folder.
Result<void> bind_all(std::vector<ShimMount> mounts, const std::string& scratch);

}  // namespace amdahl::local
