// A request body in protobuf, as Go clients send it for the built-in kinds, as JSON.
//
// Pure. What Go leaves out of JSON because it is zero is left out here. Unknown fields are skipped,
// as Go does. Failure: kCorrupt for bytes that are no such message,
// kTooLarge for a bound, kNotFound for a kind that has no message here.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/result.hpp"

namespace amdahl::local {

using Json = nlohmann::json;

// Values in one body; a value takes some hundred bytes of memory and can take two on the wire.
inline constexpr std::size_t kProtobufValuesMax = std::size_t{1} << 18U;
inline constexpr std::size_t kProtobufJsonDepthMax = 128;  // of JSON inside a field

struct ProtobufKind {
  std::string_view api_version = {};
  std::string_view kind = {};
};

// `expected` is what a body is that does not name its kind. The result has apiVersion and kind.
Result<Json> read_protobuf_body(std::string_view bytes, const ProtobufKind& expected);

}  // namespace amdahl::local
