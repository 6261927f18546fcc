// Memory limits by the kernel, where this user may make cgroups below its own.
//
// Version 2 is tried first, then version 1. Thread: one. Lifetime: each group is removed when its
// container has ended. Failure: detect() finds nothing, and the shim watches the memory instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace amdahl::local {

inline constexpr std::string_view kCgroupPrefix = "amdahl-";  // and the kubelet's process id

class MemoryCgroups {
 public:
  // `mount` is where cgroups are mounted; `own` is the text of /proc/self/cgroup. Also removes
  // what kubelets that were killed have left there.
  static std::optional<MemoryCgroups> detect(const std::string& mount, const std::string& own,
                                             const std::string& name);
  // The file that a process writes itself into.
  Result<std::string> make(const std::string& id, std::int64_t bytes) const;
  // Whether the kernel killed for memory in there. Removes the group, whose processes have ended.
  bool finish(const std::string& id) const;
  void remove() const;  // the folder of all of them
  const std::string& folder() const { return folder_; }

 private:
  MemoryCgroups(std::string folder, bool second) : folder_(std::move(folder)), second_(second) {}

  std::string folder_;
  bool second_;  // version 2
};

}  // namespace amdahl::local
