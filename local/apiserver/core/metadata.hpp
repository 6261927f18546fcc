// metadata of an object: reading it without surprises, and checking what a client sent.
//
// Pure. Failure: check_metadata() gives the Status for a member of the wrong type; after it the
// readers below meet only the types they expect.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "local/apiserver/core/status.hpp"

namespace amdahl::local {

inline constexpr std::size_t kOwnerReferencesMax = 1'000;
inline constexpr std::size_t kFinalizersMax = 1'000;

// Removes nulls and refuses wrong types; makes an empty metadata where there is none.
Outcome<Done> check_metadata(Json& object);

// Of an object that passed check_metadata.
Json& metadata_of(Json& object);
const Json& metadata_of(const Json& object);

// The member as text; "" when it is absent or no text.
std::string text_at(const Json& json, const char* key);
std::optional<std::int64_t> number_at(const Json& json, const char* key);
std::vector<std::string> finalizers_of(const Json& meta);
void set_finalizers(Json& meta, const std::vector<std::string>& finalizers);
bool remove_finalizer(Json& meta, std::string_view finalizer);  // false: it was not there

// What only the server sets goes away: uid, timestamps, generation.
void wipe_system_fields(Json& meta);

}  // namespace amdahl::local
