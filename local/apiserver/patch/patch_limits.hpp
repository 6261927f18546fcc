// What every kind of patch shares: how deep values may be, and which status a refusal becomes.
//
// Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/result.hpp"

namespace amdahl::local {

using Json = nlohmann::json;

// Levels of objects and lists in a document, a patch or a result. Kubernetes' JSON decoder allows
// 10,000; real objects stay under 60 (a CRD with a deep schema), and this one may be recursed on.
inline constexpr std::size_t kDepthMax = 256;

// How kube-apiserver answers what a patch function refused.
enum class PatchRefusal : std::uint8_t {
  kBadRequest,     // 400: the patch is malformed (Errc::kCorrupt)
  kUnprocessable,  // 422: well formed, and does not fit the object (Errc::kInvalid)
  kTooLarge,       // 413: too many operations, too deep (Errc::kTooLarge)
  kUnclassified,   // 500 in kube-apiserver, with the text of the error (Errc::kTerminal)
};
PatchRefusal refusal_of(const Error& error);

// 0 for a scalar, 1 for {} and [1]; `limit` + 1 for everything deeper than `limit`.
std::size_t depth_of(const Json& value, std::size_t limit = kDepthMax);
// kTooLarge when the value is deeper than kDepthMax; `what` names it in the error.
Result<void> check_depth(const Json& value, const char* what);

}  // namespace amdahl::local
