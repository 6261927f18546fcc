#include "base/loopback.hpp"

#include <arpa/inet.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace amdahl {

bool is_loopback_host(std::string_view host) {
  constexpr std::uint32_t kNetwork = 127;
  if (host == "localhost") return true;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string text(host);
  if (text.find('\0') != std::string::npos) return false;
  in_addr four{};
  if (::inet_pton(AF_INET, text.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24U == kNetwork;
  in6_addr six{};
  return ::inet_pton(AF_INET6, text.c_str(), &six) == 1 &&
         std::memcmp(&six, &in6addr_loopback, sizeof six) == 0;
}

}  // namespace amdahl
