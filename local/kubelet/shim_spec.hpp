// What the kubelet asks of the program that holds one container (shim/), and what it hears back.
//
// The spec is one JSON document, read to its end from kShimSpecFd, so that neither arguments nor
// variables stand in a file or a process list. Commands are single bytes on kShimControlFd; when
// that closes, the kubelet is gone and everything is killed. Answers are lines on kShimStatusFd:
//
//   started              the program runs
//   failed TEXT          it could not be started, and why
//   oom                  it was killed for its memory
//   exited CODE SIGNAL   it has ended; SIGNAL is 0 when it ended by itself
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.hpp"

namespace amdahl::local {

inline constexpr int kShimSpecFd = 3;
inline constexpr int kShimControlFd = 4;
inline constexpr int kShimStatusFd = 5;
inline constexpr char kShimTerminate =
    'T';  // SIGTERM: to the first process if it handles it, otherwise to all
inline constexpr char kShimKill = 'K';  // SIGKILL to every process of the container
inline constexpr std::size_t kShimSpecBytesMax = std::size_t{8} << 20U;

struct ShimMount {
  std::string source = {};
  std::string target = {};
  bool read_only = false;
  bool operator==(const ShimMount&) const = default;
};
template <class V>
constexpr void fields(V& v, ShimMount& mount) {
  v.required("source", mount.source);
  v.required("target", mount.target);
  v.optional("readOnly", mount.read_only);
}

struct ShimSpec {
  std::vector<std::string> arguments = {};    // [0] is looked up in the PATH of `environment`
  std::vector<std::string> environment = {};  // "NAME=value", all of it
  std::string directory = {};                 // where it starts
  std::string hostname = {};                  // only with namespaces
  bool namespaces = false;                    // user, pid, mount and host name
  std::string scratch = {};                   // an empty folder, for building mounts
  std::vector<ShimMount> mounts = {};         // only with namespaces
  std::int64_t memory_bytes = 0;              // watched by the shim; 0: no limit
  std::string cgroup_procs = {};              // joined before the program starts; may be empty
  bool operator==(const ShimSpec&) const = default;
};
template <class V>
constexpr void fields(V& v, ShimSpec& spec) {
  v.required("arguments", spec.arguments);
  v.required("environment", spec.environment);
  v.required("directory", spec.directory);
  v.optional("hostname", spec.hostname);
  v.optional("namespaces", spec.namespaces);
  v.optional("scratch", spec.scratch);
  v.optional("mounts", spec.mounts);
  v.optional("memoryBytes", spec.memory_bytes);
  v.optional("cgroupProcs", spec.cgroup_procs);
}

}  // namespace amdahl::local
