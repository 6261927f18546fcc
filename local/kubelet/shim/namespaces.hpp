// The container's own view of the machine, where the kernel lets this user have one.
//
// enter_namespaces() is called by the shim; its next child is process 1 of the container, and that
// child calls set_up_view() before it starts anything. Thread: the shim's only one. Lifetime: the
// view ends with its processes. Failure: Errc::kIo with the call and the path.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "local/kubelet/shim_spec.hpp"

namespace amdahl::local {

// As root the real ones, else below a user namespace in which this user has its own number.
Result<void> enter_namespaces();

// Private mounts, /proc of the new processes, the host name, and the mounts of the spec.
Result<void> set_up_view(const ShimSpec& spec);

}  // namespace amdahl::local
