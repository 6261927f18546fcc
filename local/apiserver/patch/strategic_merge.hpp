// Strategic merge patch: application/strategic-merge-patch+json, what kubectl sends by default.
//
// Objects merge by key. A list merges by the merge key of its MergeShape, or as a set of scalars,
// or is replaced when the shape says neither. A null removes. Directives: `$patch` (replace,
// delete),
// `$deleteFromPrimitiveList/<list>`, `$setElementOrder/<list>`, `$retainKeys`. As in kube-apiserver
// `$patch: merge` is refused: merging is the default.
// The result holds no directive, and no null that came with the patch.
// Pure, any thread; `shape` may be null and is only read during the call.
// Failure: kCorrupt for a directive with the wrong kind of value (400), kInvalid for lists of lists
// (422), kTerminal for unknown directives and missing merge keys (kube-apiserver: 500), kTooLarge.
#pragma once

#include "local/apiserver/model/merge_shape.hpp"
#include "local/apiserver/patch/patch_limits.hpp"

namespace amdahl::local {

Result<Json> apply_strategic_merge(const Json& document, const Json& patch,
                                   const MergeShape* shape);

}  // namespace amdahl::local
