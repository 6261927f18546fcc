// PATCH in its four forms, server-side apply included.
//
// How a patch changes a value is the rules' business; what may be changed is checked as for an
// update. Failure: a Status.
#pragma once

#include "local/apiserver/core/server_state.hpp"

namespace amdahl::local {

// By the content type; 415 for one this resource does not take.
Outcome<PatchType> patch_type(const ResourceInfo& info, std::string_view content_type);
// The body of a patch as a value: JSON, and for an apply also YAML.
Outcome<Body> read_patch(const ServerState& state, const Request& request, PatchType type);
Outcome<Done> check_patch_options(const Query& query, PatchType type);

Outcome<Reply> patch(ServerState& state, Request& request);

}  // namespace amdahl::local
