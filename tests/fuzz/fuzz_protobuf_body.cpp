// Request bodies in protobuf. What is read names its kind, prints as JSON and is not deeper than
// what was bounded; reading it twice gives the same.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "base/wire_reader.hpp"
#include "local/apiserver/protobuf/body.hpp"

namespace {

using amdahl::local::Json;

std::size_t depth_of(const Json& value) {
  if (!value.is_structured()) return 0;
  std::size_t deepest = 0;
  for (const Json& one : value) deepest = std::max(deepest, depth_of(one));
  return deepest + 1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto read = amdahl::local::read_protobuf_body(bytes, {.api_version = "v1", .kind = "Pod"});
  if (!read) {
    AMDAHL_CHECK(!read.error().context.empty());
    return 0;
  }
  AMDAHL_CHECK(read->is_object() && (*read)["kind"].is_string());
  AMDAHL_CHECK(!read->dump().empty());  // throws on a text that is not UTF-8
  // A list or a map stands between two messages; JSON of its own may stand at the bottom.
  AMDAHL_CHECK(depth_of(*read) <=
               std::size_t{2} * amdahl::kWireDepthMax + amdahl::local::kProtobufJsonDepthMax + 1);
  const auto again = amdahl::local::read_protobuf_body(bytes, {.api_version = "v1", .kind = "Pod"});
  AMDAHL_CHECK(again.has_value() && *again == *read);
  return 0;
}
