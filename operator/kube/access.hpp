// Questions about rights: may I, may they, and whose token is this.
//
// Nothing is changed by asking, so these are never fenced and may be repeated. Thread: one.
// Lifetime: the client outlives the tasks. Failure: see client.hpp; a token never appears in one.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/kube/client.hpp"
#include "operator/kube/types_review.hpp"

namespace amdahl::kube {

struct AccessDecision {
  bool allowed = false;
  std::string reason = {};  // the authorizer's words; may be empty
};

// What somebody wants to do to a kind; empty ns: in all namespaces, empty name: to any object.
ResourceAttributes access_to(std::string verb, const Resource& resource, std::string ns = "",
                             std::string name = "", std::string subresource = "");

Task<Result<AccessDecision>> can_i(Client& client, ResourceAttributes what);
Task<Result<AccessDecision>> can_user(Client& client, UserInfo user, ResourceAttributes what);
// For paths that are no resources, such as "/metrics".
Task<Result<AccessDecision>> can_user_path(Client& client, UserInfo user,
                                           NonResourceAttributes what);

// Who the token belongs to. Errc::kUnauthorized when it is not valid for these audiences.
Task<Result<UserInfo>> review_token(Client& client, std::string token,
                                    std::vector<std::string> audiences = {});

}  // namespace amdahl::kube
