// Where a store's HTTP server is, and texts that go into URLs.
//
// Pure values. Thread: any. Failure: kInvalid with the URL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace amdahl::checkpoint {

struct Endpoint {
  bool tls = true;
  std::string host = {};  // without brackets
  std::uint16_t port = 443;
  bool operator==(const Endpoint&) const = default;
};

inline constexpr std::size_t kHostBytesMax = 253;

// "https://host", "http://127.0.0.1:9000", "localhost:9000" (then it is http). No path, no user.
Result<Endpoint> parse_endpoint(std::string_view url);
std::string host_field(const Endpoint& endpoint);  // of a Host header
std::string url_of(const Endpoint& endpoint);      // for messages
bool is_loopback(const Endpoint& endpoint);

// As SigV4 wants it: everything but letters, digits, "-", ".", "_", "~" is %XX in upper case.
enum class Slashes : std::uint8_t { kEncode, kKeep };
std::string percent_encode(std::string_view text, Slashes slashes = Slashes::kEncode);

}  // namespace amdahl::checkpoint
