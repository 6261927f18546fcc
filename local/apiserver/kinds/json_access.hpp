// Reading values out of objects whose shape nobody has checked: nothing here throws.
//
// Free functions over borrowed JSON; the results live as long as the object. A value that is absent
// or of another type reads as "not there".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace amdahl::local {

using Json = nlohmann::json;

// The member, or null if `object` is no object or has none of that name (or a JSON null).
const Json* member(const Json& object, std::string_view name);
Json* member(Json& object, std::string_view name);
// Follows names: at(pod, {"spec", "nodeName"}).
const Json* at(const Json& object, std::initializer_list<std::string_view> path);
// The string at the path; "" when there is none.
std::string text_at(const Json& object, std::initializer_list<std::string_view> path);
std::optional<std::int64_t> number_at(const Json& object,
                                      std::initializer_list<std::string_view> path);
bool flag_at(const Json& object, std::initializer_list<std::string_view> path);
// The list at the path, an empty one when there is none.
const Json& list_at(const Json& object, std::initializer_list<std::string_view> path);
// The object at the path, an empty one when there is none.
const Json& map_at(const Json& object, std::initializer_list<std::string_view> path);

// Sets object[name] = value if it is absent or null.
void set_default(Json& object, std::string_view name, Json value);
// object[name] as an object, made if absent or null; null if something else is there.
Json* make_object(Json& object, std::string_view name);

}  // namespace amdahl::local
