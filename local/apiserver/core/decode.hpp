// A request body as an object of the resource's kind: parsed, checked, pruned and defaulted.
//
// Failure: a Status. Warnings about unknown and repeated fields go into the request.
#pragma once

#include "local/apiserver/core/server_state.hpp"

namespace amdahl::local {

// The body as a value, whatever it is; bounded.
Outcome<Body> read_body(const ServerState& state, const Request& request);
// The body as an object of the request's kind.
Outcome<Json> read_object(const ServerState& state, Request& request);
// The same checks for an object that came out of a patch. `strict` are earlier complaints.
Outcome<Json> check_object(const ServerState& state, Request& request, Json object,
                           std::vector<std::string> strict);
// name and namespace in the object against those in the path.
Outcome<Done> match_path(const Request& request, Json& object);

}  // namespace amdahl::local
