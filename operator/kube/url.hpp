// An http or https address, parsed once (Boost.URL underneath).
//
// Pure. Failure: Errc::kInvalid with the text, minus any password in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace amdahl::kube {

struct Url {
  std::string scheme = "https";  // lower case
  std::string host = {};         // lower case; an IPv6 address without its brackets
  std::uint16_t port = 443;
  std::string base_path = {};  // "" or "/clusters/a": percent-encoded, no slash at the end
  std::string user = {};       // percent-decoded
  std::string password = {};   // percent-decoded; a secret
  bool operator==(const Url&) const = default;
  bool tls() const { return scheme == "https"; }
};

Result<Url> parse_url(std::string_view text);

// "host:port", or "[2001:db8::1]:6443": for the Host header and CONNECT.
std::string authority(const Url& url);
// "https://host:6443/base", without a default port, user and password: for messages.
std::string to_string(const Url& url);

}  // namespace amdahl::kube
