// Base64 as kubeconfig files, Basic authentication and tokens use it (OpenSSL underneath).
//
// Pure. Failure: no value; the input is never quoted, it may be a key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace amdahl::kube {

std::string base64_encode(std::string_view bytes);
// White space anywhere is ignored, as line-wrapped data has it. Padding is required.
std::optional<std::string> base64_decode(std::string_view text);

// With the alphabet of URLs and without padding, as in JSON Web Tokens. Nothing else is allowed.
std::string base64url_encode(std::string_view bytes);
std::optional<std::string> base64url_decode(std::string_view text);

}  // namespace amdahl::kube
