// What a pod of the template asks for. Pure; what cannot be read counts as nothing, because the API
// server will say so when the first pod is tried.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/fields.hpp"
#include "operator/kube/quantity.hpp"

namespace amdahl::training {

// More are counted as this many: no node has them, and sums stay small.
inline constexpr std::int64_t kPodGpusMax = 4096;

// The container that is the workload: named "trainer", or the only one; null: there is none.
const Json* trainer_of(const Json& pod_template);

// GPUs of one container, of any vendor: limits of resources that end in "/gpu".
std::int64_t gpus_of(const Json& container);
std::int64_t pod_gpus(const Json& pod_template);  // of all its containers

// The trainer's memory limit as the template writes it, such as "64Gi"; empty: none.
std::string memory_limit(const Json& pod_template);

// Requests (or limits, where there is no request) of `pods` pods.
std::map<std::string, kube::Quantity> pod_requests(const Json& pod_template, std::int32_t pods);

}  // namespace amdahl::training
