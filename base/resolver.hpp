// Host names to addresses, without the C library's resolver, which a static program cannot use.
//
// Knows /etc/hosts, /etc/resolv.conf with its search list (by c-ares), and the text of a second
// hosts file for names that are known only there. Thread: one. Lifetime: the clock outlives the call. Failure: a
// name that is not known by the deadline has no addresses.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/task.hpp"

namespace amdahl {

inline constexpr std::size_t kNamesAtOnceMax = 64;
inline constexpr std::size_t kAddressesMax = 8;  // of one name

using Addresses = std::vector<boost::asio::ip::address>;

// In the order of the names; names beyond kNamesAtOnceMax have no answer.
Task<std::vector<Addresses>> resolve(Clock& clock, std::vector<std::string> names,
                                     std::string hosts, Monotonic deadline);

// "10.0.0.1 name alias # comment" lines.
Addresses find_in_hosts(std::string_view hosts, std::string_view name);

}  // namespace amdahl
