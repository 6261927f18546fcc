// Deleting: preconditions, grace, finalizers and what happens to dependents.
//
// delete_object() is also what the garbage collector uses. Failure: a Status.
#pragma once

#include <optional>
#include <string>

#include "local/apiserver/core/server_state.hpp"

namespace amdahl::local {

struct DeleteOptions {
  std::optional<std::int64_t> grace_period_seconds = std::nullopt;
  std::optional<std::string> propagation = std::nullopt;  // Background, Foreground, Orphan
  std::optional<bool> orphan_dependents = std::nullopt;   // the old way to say so
  std::optional<std::string> uid = std::nullopt;
  std::optional<std::string> version = std::nullopt;
  bool dry = false;
};

struct Deleted {
  ObjectPtr object = {};   // as it was left, or as it last was
  bool gone = false;       // of a dry run: it would be
  bool as_status = false;  // answered by a Status and not by the object
};

// The body's options, or those of the query when there is no body.
Outcome<DeleteOptions> read_delete_options(const ServerState& state, const Request& request);
// The same members inside of an Eviction.
Outcome<DeleteOptions> delete_options_from(const Json& json);

Outcome<Deleted> delete_object(ServerState& state, const ResourceInfo& info,
                               const ObjectPtr& object, DeleteOptions options);

Outcome<Reply> remove(ServerState& state, Request& request);
Outcome<Reply> remove_collection(ServerState& state, Request& request);

}  // namespace amdahl::local
