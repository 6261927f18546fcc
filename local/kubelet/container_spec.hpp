// Everything the shim needs for one container: command, variables, mounts, limits.
//
// Thread: one. Failure: Errc::kInvalid: what the pod asks for cannot be made
// (CreateContainerConfigError); any other: it cannot be made here (CreateContainerError).
#pragma once

#include "local/kubelet/options.hpp"
#include "local/kubelet/pod_entry.hpp"
#include "local/kubelet/shim_spec.hpp"

namespace amdahl::local {

inline constexpr std::string_view kTokenFolder = "/var/run/secrets/kubernetes.io/serviceaccount";
inline constexpr std::string_view kTokenVolume = "amdahl-api-access";
inline constexpr std::int64_t kTokenSeconds = 86'400;

// The pod with what a cluster adds to it: the service account's folder in every container.
Pod with_token_volume(Pod pod);

CommandFacts command_facts(const PodEntry& entry, std::size_t index, const KubeletOptions& options,
                           const Isolation& isolation, const std::string& hosts_file);

Result<ShimSpec> container_spec(const PodEntry& entry, std::size_t index,
                                const KubeletOptions& options, const Isolation& isolation,
                                const std::string& hosts_file);

std::int64_t gpus_of(const Container& container);
NodeRoom room_of(const KubeletOptions& options, const std::string& node);

}  // namespace amdahl::local
