// Bytes to values and back: request bodies (JSON, YAML, protobuf) and what a client accepts.
//
// Pure. Failure: a Status with the text Kubernetes gives. Bodies are bounded in size and depth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "local/apiserver/core/status.hpp"

namespace amdahl::local {

inline constexpr std::size_t kBodyBytesMax = std::size_t{3} << 20;
inline constexpr std::size_t kBodyDepthMax = 256;
inline constexpr std::size_t kStrictErrorsMax = 100;

enum class ObjectForm : std::uint8_t { kWhole, kMetadata, kTable };

struct Accepted {
  ObjectForm form = ObjectForm::kWhole;
  std::string meta_version = "v1";  // of meta.k8s.io, for the two other forms
};
Outcome<Accepted> negotiate(std::string_view accept);

enum class BodyFormat : std::uint8_t { kJson, kYaml, kProtobuf };
// By the content type; JSON when there is none. Another type is 415. Protobuf is for kinds that are
// built in.
Outcome<BodyFormat> body_format(std::string_view content_type, bool protobuf);
// "application/json" of "Application/JSON; charset=utf-8".
std::string media_type(std::string_view header);

struct Body {
  Json value = {};
  std::vector<std::string> duplicates = {};  // duplicate field "spec.x"
};
// The parser's complaint is the error. For JSON and YAML.
Outcome<Body> parse_body(std::string_view bytes, BodyFormat format);

}  // namespace amdahl::local
