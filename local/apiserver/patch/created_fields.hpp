// What the writer of a new object owns, as FieldsV1.
//
// The same as the difference between an unset object and the new one, without the fields that
// nobody owns (ownership.hpp), but written in one walk: creates are the most common write. Pure,
// any thread; the object is at most kDepthMax deep: the caller checked. Failure: none.
#pragma once

#include "local/apiserver/patch/apply.hpp"

namespace amdahl::local {

// An empty object: the writer owns nothing.
Json created_fields(const FieldRules& rules, const Json& created);

}  // namespace amdahl::local
