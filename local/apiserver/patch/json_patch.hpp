// JSON patch (RFC 6902): application/json-patch+json, with the habits of kube-apiserver.
//
// Those are: an index may be negative and counts from the end; "replace" of a member that is not
// there adds it; "add", "copy" and "move" cannot name the whole document.
// Pure, any thread; a patch applies as a whole or not at all.
// Failure: kCorrupt for a body that is no list of operations (400), kInvalid for an operation that
// does not apply, a failed "test" among them (422), kTooLarge for too many operations (413).
#pragma once

#include "local/apiserver/patch/patch_limits.hpp"

namespace amdahl::local {

inline constexpr std::size_t kJsonPatchOperationsMax = 10'000;
// What all "copy" operations of one patch may add, as JSON text.
inline constexpr std::size_t kJsonPatchCopyBytesMax = 3U << 20U;

Result<Json> apply_json_patch(Json document, const Json& operations);

}  // namespace amdahl::local
