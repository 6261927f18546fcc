// The files of configMap, secret, downwardAPI and projected volumes, as values. Pure.
//
// Failure: Errc::kInvalid with the volume, and the object or key that is missing.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.hpp"
#include "local/kubelet/command.hpp"
#include "local/kubelet/types_pod.hpp"

namespace amdahl::local {

struct VolumeFile {
  std::string bytes = {};
  std::uint32_t mode = 0644;
  bool operator==(const VolumeFile&) const = default;
};
using VolumeFiles = std::map<std::string, VolumeFile>;  // by path below the volume

// Empty for an emptyDir or hostPath.
Result<VolumeFiles> volume_files(const Pod& pod, const Volume& volume, const Sources& sources,
                                 const CommandFacts& facts);

// Relative, not empty, and never upwards.
bool is_safe_path(std::string_view path);

}  // namespace amdahl::local
