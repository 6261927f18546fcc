// Names of pods and services, as the lines of a hosts file. Pure.
//
// A pod is found by its name and by hostname.subdomain; a service by its name, which stands for
// the addresses of all pods it selects. Each name also with .ns, .ns.svc and .ns.svc.cluster.local.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/packed_map.hpp"

namespace amdahl::local {

struct HostPod {
  std::string name = {};
  std::string hostname = {};
  std::string subdomain = {};
  std::string address = {};  // empty: not listed
  PackedMap labels = {};
};
struct HostService {
  std::string name = {};
  PackedMap selector = {};  // empty: selects nothing
};

// libnss-wrapper has no answer to who asks for IPv6 and finds no such line; torch then gives up.
enum class HostsFor : std::uint8_t { kMount, kNssWrapper };

// The text of the file for one namespace; `own` are the machine's own lines, which come first.
std::string hosts_text(std::string_view own, std::string_view ns, const std::vector<HostPod>& pods,
                       const std::vector<HostService>& services,
                       HostsFor reader = HostsFor::kMount);

}  // namespace amdahl::local
