// get and list: reading at a version.
//
// Failure: a Status; 410 for a version that is forgotten, 504 for one that is not there yet.
#pragma once

#include <optional>

#include "local/apiserver/core/server_state.hpp"

namespace amdahl::local {

// Which objects of a resource a request is about.
struct Selection {
  std::string prefix = {};  // "" or "namespace/"
  kube::Selector labels = {};
  FieldSelector fields = {};
  bool matches(const StoredObject& object) const {
    return object.key.starts_with(prefix) && labels.matches(object.labels) &&
           fields.matches(object);
  }
  bool whole() const { return labels.empty() && fields.empty(); }
};
Outcome<Selection> selection_of(const ServerState& state, const Request& request);

// "" and "0" are none. The real server answers a bad one differently for get (this 500), list (400)
// and watch (422).
Outcome<std::optional<std::uint64_t>> parse_version(std::string_view text);

Outcome<Reply> get(ServerState& state, Request& request);
Outcome<Reply> list(ServerState& state, Request& request);

}  // namespace amdahl::local
