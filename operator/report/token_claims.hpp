// What a pod's token says of itself, before it is checked.
//
// Sans-IO. Asking the API server about a token costs a request, and a sender of junk must not be
// able to spend those that honest pods need: a token that names no pod is refused without asking.
// Nothing read here may be believed. Failure: no value for what is no JSON Web Token that names a
// pod in the way of Kubernetes' bound tokens, or is larger than kClaimsBytesMax.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/report/reporter.hpp"

namespace amdahl::report {

inline constexpr std::size_t kClaimsBytesMax = std::size_t{8} << 10U;  // of the encoded claims

struct TokenClaims {
  std::vector<std::string> audiences = {};
  TokenPod pod = {};
  bool operator==(const TokenClaims&) const = default;
};
std::optional<TokenClaims> unverified_claims(std::string_view token);

}  // namespace amdahl::report
