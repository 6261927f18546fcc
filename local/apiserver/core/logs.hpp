// GET pods/NAME/log: which container, from where on, and the refusals of Kubernetes.
//
// Failure: a Status. The stream is plain text; a pod without a node has no log yet (204).
#pragma once

#include "local/apiserver/core/server_state.hpp"

namespace amdahl::local {

Outcome<Reply> read_log(ServerState& state, Request& request);

}  // namespace amdahl::local
