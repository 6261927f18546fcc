// The envelopes around Kubernetes protobuf, taken off without copying.
//
//   object: "k8s\0" Unknown{1: TypeMeta{1: apiVersion, 2: kind}, 2: raw, 3: encoding, 4: type}
//   event:  WatchEvent{1: type, 2: RawExtension{1: object}}     in a stream: 4-byte length, event
//   list:   the raw of an object: XList{1: ListMeta{2: version, 3: continue}, 2: item ...}
//
// Lifetime: every view points into the bytes given. Failure: Errc::kCorrupt for bytes that are not
// such an envelope, kInvalid for a content we cannot read.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/function_ref.hpp"
#include "base/result.hpp"
#include "operator/kube/request.hpp"

namespace amdahl::kube {

struct WireObject {
  std::string_view api_version = {};
  std::string_view kind = {};
  std::string_view raw = {};
  Encoding encoding = Encoding::kProtobuf;  // of raw: what has no protobuf form comes as JSON
};
Result<WireObject> unwrap_object(std::string_view bytes);

struct WireWatchEvent {
  std::string_view type = {};    // "ADDED", ...
  std::string_view object = {};  // still in its own envelope
};
Result<WireWatchEvent> unwrap_watch_event(std::string_view message);

struct WireList {
  std::string_view version = {};
  std::string_view next_page = {};  // continue token
  std::optional<std::int64_t> remaining = std::nullopt;
};
// Calls each_item for every item in order and stops at its first error.
Result<WireList> unwrap_list(std::string_view raw,
                             function_ref<Result<void>(std::string_view item)> each_item);

}  // namespace amdahl::kube
