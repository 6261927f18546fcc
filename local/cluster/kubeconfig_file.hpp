// Our context in a kubeconfig of the user.
//
// The file is replaced in one step and keeps its mode; a symbolic link is followed. Thread: any.
// A file that gets our context is for its owner alone (0600) from then on, since a token is in it.
// Failure: a file that is no kubeconfig is refused and left as it is.
#pragma once

#include <string>

#include "base/result.hpp"
#include "local/cluster/kubeconfig_edit.hpp"

namespace amdahl::local {

// The file may be missing; it is made then, with mode 0600. Returns where the text really is.
Result<std::string> merge_into_file(const std::string& path, const ClusterAddress& address);
// A file that is missing has nothing of ours.
Result<void> remove_from_file(const std::string& path);

}  // namespace amdahl::local
