// Messages that JSON writes in another form: times, quantities, numbers or names, raw JSON.
//
// Pure. Each reads the payload of one field; false: refused, and the walk knows why.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/wire_reader.hpp"
#include "local/apiserver/protobuf/message_table.hpp"

namespace amdahl::local {

using Json = nlohmann::json;

bool read_special(ProtoType type, std::string_view bytes, WireWalk& walk, Json& into);

}  // namespace amdahl::local
