// What a pod may know of itself: fieldRef and resourceFieldRef. Pure.
//
// Failure: Errc::kInvalid with the path or resource that cannot be told.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "local/kubelet/types_pod.hpp"

namespace amdahl::local {

// Of the node the pod is on: limits that a container does not set.
struct NodeRoom {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
};

inline constexpr std::string_view kHostAddress = "127.0.0.1";

// `address` is the pod's, which its status may not have yet.
Result<std::string> field_value(const Pod& pod, std::string_view address, std::string_view path);
Result<std::string> resource_value(const Pod& pod, const Container& container, NodeRoom node,
                                   const ResourceRef& ref);

}  // namespace amdahl::local
