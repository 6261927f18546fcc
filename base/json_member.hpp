// Looks into JSON that somebody else wrote: no shape of it throws.
//
// nlohmann's value(), at() and operator[] throw when a value has another type than expected. What
// is absent, null, or inside something of another type is null here, as it is to an API server.
// Pure. Failure: none.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/fields.hpp"
#include "base/function_ref.hpp"

namespace amdahl {

const Json& member_of(const Json& value, std::string_view key);
// A text member; empty when it is none.
std::string_view text_of(const Json& value, std::string_view key);

// Members that are null, at every depth, are taken out; items of lists stay.
void drop_nulls(Json& value);

// Every value at a path such as "spec.containers|initContainers[].env[].name": a dot before each
// member but the first, [] for every item of a list, | between members that are treated alike.
// Members that are absent or null are passed over, null items are not. `visit` gets the value and
// where it is ("spec.containers[1].env[0].name"), and returns whether to go on.
void each_at(const Json& root, std::string_view path,
             function_ref<bool(const Json& value, const std::string& place)> visit);

// "a string", "null": for messages.
std::string_view kind_name(const Json& value);

}  // namespace amdahl
