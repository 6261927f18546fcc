// The Pods of the benchmark: 8 ranks for each training job, spread over 10 namespaces. Pure.
//
// As the server stores them, with defaults and managedFields, about 3.1 KB each (4.5 KB as JSON).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "operator/kube/request.hpp"

namespace amdahl::bench {

inline constexpr std::uint32_t kNamespaces = 10;
inline constexpr std::uint32_t kRanks = 8;

std::string namespace_name(std::uint32_t number);
kube::ObjectKey job_key(std::uint32_t number);
kube::ObjectKey pod_key(std::uint32_t index);
std::string pod_manifest(std::uint32_t index);
// With the UID of the job that is there, or "" for a Pod of nobody: a server that collects garbage
// removes what belongs to an unknown owner.
std::string pod_manifest(std::uint32_t index, std::string_view owner_uid);
// The body of a merge patch of the status subresource: what a kubelet would have written.
std::string pod_status(std::uint32_t index);
// The body of a merge patch that is one event for whoever watches.
std::string pod_label_patch(std::int64_t seq);

}  // namespace amdahl::bench
