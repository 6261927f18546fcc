// The address of a client without its port: "10.0.0.7" of "10.0.0.7:40312", "[fd00::7]" of
// "[fd00::7]:40312". Limits per client count by it.
//
// Pure.
#pragma once

#include <string>
#include <string_view>

namespace amdahl {

inline std::string address_of_peer(std::string_view peer) {
  return std::string(peer.substr(0, peer.rfind(':')));
}

}  // namespace amdahl
