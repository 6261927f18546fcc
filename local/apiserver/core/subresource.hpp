// Subresources that are not a part of the object they belong to: scale, binding, eviction.
//
// Failure: a Status.
#pragma once

#include "local/apiserver/core/server_state.hpp"

namespace amdahl::local {

Outcome<Reply> get_scale(ServerState& state, Request& request);
Outcome<Reply> change_scale(ServerState& state, Request& request);  // PUT and PATCH
Outcome<Reply> bind_pod(ServerState& state, Request& request);
Outcome<Reply> evict_pod(ServerState& state, Request& request);
// A subresource that the rules compute, like serviceaccounts/token.
Outcome<Reply> review_subresource(ServerState& state, Request& request);

}  // namespace amdahl::local
