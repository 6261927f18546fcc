// Objects and lists in the form a client asked for: whole, metadata only, or as a Table.
//
// Pure over the texts that are kept: a whole object is its text, a list their concatenation.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "local/apiserver/core/server_state.hpp"

namespace amdahl::local {

// The object as this version of its kind shows it.
Json in_version(const KindRules& rules, const ResourceInfo& info, Json object);

struct RenderAs {
  const ResourceInfo* info = nullptr;
  Accepted accepted = {};
  std::string include_object = {};  // of a Table's rows: "", None, Metadata, Object
  bool table_headers = true;
  WallTime now{};
};
RenderAs render_as(const ServerState& state, const Request& request);

std::string render_object(const KindRules& rules, const RenderAs& as, const StoredObject& object);

struct ListMeta {
  std::uint64_t version = 0;
  std::string continue_token = {};
  std::optional<std::size_t> remaining = std::nullopt;
};
std::string render_list(const KindRules& rules, const RenderAs& as, const ListMeta& meta,
                        std::span<const ObjectPtr> items);

// Replies of the verbs. wait_version is set by the caller where the default, the newest version,
// is too careful.
Reply object_reply(const ServerState& state, const Request& request, int code,
                   const StoredObject& object);
Reply json_reply(const Request& request, int code, const Json& body);
Reply status_reply(const Status& status);
// What was collected on the way goes with every answer, refusals too.
void add_warnings(const Request& request, Reply& reply);
Reply text_reply(int code, std::string body);

}  // namespace amdahl::local
