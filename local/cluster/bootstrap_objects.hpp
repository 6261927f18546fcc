// What a control plane has before anybody asks: namespaces, priority classes, roles, the service
// that stands for the API server.
//
// RBAC objects are there for kubectl and for charts that bind to them; whoever has a token may do
// everything. Thread: the server's. Failure: an object the server refuses is a bug of this list and
// comes back as Errc::kInvalid with the server's words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "local/apiserver/core/api_server.hpp"

namespace amdahl::local {

struct BootstrapObject {
  std::string collection = {};  // "/api/v1/namespaces"
  std::string text = {};        // JSON
  std::string applied = {};     // its name, if it is ours and follows the program's version
};
std::vector<BootstrapObject> bootstrap_objects(std::uint16_t port);

// Makes what is missing; of what is there, only our own definitions, and those of the caller (CRDs
// as JSON), are brought up to date. Not durable yet when it returns.
Result<void> make_bootstrap_objects(ApiServer& server, std::uint16_t port,
                                    std::span<const std::string> definitions, WallTime now);

}  // namespace amdahl::local
