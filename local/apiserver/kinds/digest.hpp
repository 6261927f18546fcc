// The digests that appear in discovery and OpenAPI answers; nothing secret passes through here.
//
// Pure functions. OpenSSL stays behind this header.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace amdahl::local {

// SHA-512 in upper-case hexadecimal, as kube-apiserver writes its ETags.
std::string sha512_hex(std::string_view bytes);
// base64 (padded) of the first `bytes_max` bytes of SHA-256.
std::string base64_of_sha256(std::string_view bytes, std::size_t bytes_max);

}  // namespace amdahl::local
