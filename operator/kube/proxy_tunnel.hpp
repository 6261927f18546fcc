// Asks an HTTP proxy for a tunnel (C5). Afterwards the connection's bytes are the server's.
//
// Thread: one. Lifetime: the connection outlives the call. Failure: Errc::kUnauthorized for 407,
// otherwise what the proxy's answer or the broken connection means; never the password.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/kube/connection.hpp"

namespace amdahl::kube {

// `authority` is the server, "host:port"; `authorization` goes to the proxy and may be empty.
Task<Result<void>> open_tunnel(Connection& connection, std::string authority,
                               std::string authorization);

}  // namespace amdahl::kube
