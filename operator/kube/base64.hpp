// Base64 as kubeconfig files and Basic authentication use it (OpenSSL underneath).
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

}  // namespace amdahl::kube
