// JSON merge patch (RFC 7386): application/merge-patch+json.
//
// Pure, any thread. A null in the patch removes the member; lists and scalars are replaced.
// Failure: kCorrupt when the patch of a document is not an object, kTooLarge for deep values.
#pragma once

#include "local/apiserver/patch/patch_limits.hpp"

namespace amdahl::local {

Result<Json> apply_merge_patch(Json document, const Json& patch);

}  // namespace amdahl::local
