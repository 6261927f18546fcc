// A TCP connection to a host name or address: every address is tried, each with its own limit.
//
// Thread: one. Lifetime: the clock outlives the call. Failure: Errc::kIo naming what was tried, as
// in "connect 127.0.0.1:6443: connection refused"; Errc::kCancelled when the task was stopped, at
// once, although a name lookup cannot be stopped.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace amdahl::kube {

inline constexpr std::size_t kAddressesMax = 16;  // tried for one host name

Task<Result<boost::asio::ip::tcp::socket>> dial(std::string host, std::uint16_t port, Clock& clock,
                                                std::chrono::milliseconds address_timeout);

// The part of dial() after the name lookup: the first of these addresses that answers. `host` is
// for messages.
Task<Result<boost::asio::ip::tcp::socket>> dial_any(
    std::string host, std::vector<boost::asio::ip::tcp::endpoint> addresses, Clock& clock,
    std::chrono::milliseconds address_timeout);

// "10.0.0.1:6443", "[::1]:6443".
std::string host_port(const std::string& host, std::uint16_t port);
// The system's words, beginning in lower case.
std::string reason(const boost::system::error_code& error);

}  // namespace amdahl::kube
