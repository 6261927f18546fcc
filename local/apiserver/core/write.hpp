// Creating and updating objects: the one way into the table, for every verb and the collector.
//
// Each function either changes the table or refuses with a Status; a dry run does all but the
// change. Thread: the server's.
#pragma once

#include "local/apiserver/core/server_state.hpp"

namespace amdahl::local {

struct Written {
  ObjectPtr object = {};  // as it is now; of a dry run, as it would be
  bool created = false;
};

// `object` is decoded and matches the path.
// What it may be warned of is added to the request, as below.
Outcome<Written> store_new(ServerState& state, Request& request, Json object);

struct UpdateOf {
  ObjectPtr old = {};
  const Json* live = nullptr;  // `old` in the version of the request, where it was read already
  std::string_view subresource = {};
  bool tracked = true;      // managed fields are written here; an apply has done it already
  bool from_patch = false;  // a changed UID is then invalid and not a failed precondition
};
Outcome<Written> store_update(ServerState& state, Request& request, const UpdateOf& update,
                              Json object);

// Refuses an object that is about to be stored, if there are causes. A custom object has to say
// what it is: an update that says something else is refused for that and for its metadata only.
Outcome<Done> refuse(const ServerState& state, const ResourceInfo& info, const Json& object,
                     std::vector<Cause> causes);
// As what an object is refused. Kinds that are kept as another one are refused as that: events.
GroupName stored_kind(const ServerState& state, const ResourceInfo& info);

inline constexpr std::size_t kObjectBytesMax = std::size_t{3} << 19;  // etcd's 1.5 MiB

// The object as it is kept, in the version of its storage; not in the table yet.
ObjectPtr stored_form(const ServerState& state, const ResourceInfo& info, Json object,
                      std::uint64_t version);
// The same for what a client sent; 413 when it is too big to be kept.
Outcome<ObjectPtr> bounded_object(const ServerState& state, const ResourceInfo& info, Json object,
                                  std::uint64_t version);
void commit_object(ServerState& state, const ResourceInfo& info, const ObjectPtr& object);
// Unconditional, for changes of our own: versions move, hooks run, nothing is checked.
ObjectPtr put_object(ServerState& state, const ResourceInfo& info, Json object);
// Gives the object as watches show it last, with the version of the removal.
ObjectPtr remove_object(ServerState& state, const ResourceInfo& info, const StoredObject& object);

// The verbs.
Outcome<Reply> create(ServerState& state, Request& request);
Outcome<Reply> update(ServerState& state, Request& request);

}  // namespace amdahl::local
