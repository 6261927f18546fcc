// Puts an applied configuration into an object, and takes fields out of one, along a MergeShape.
//
// Pure, any thread; shapes may be null. Values are at most kDepthMax deep: the caller checked.
// Failure: check_configuration() says what kube-apiserver says (kTerminal); the others have none.
#pragma once

#include "local/apiserver/patch/field_set.hpp"
#include "local/apiserver/patch/shape_walk.hpp"

namespace amdahl::local {

// Fields are declared, kinds of values fit the shape, and items of lists are told apart by keys
// that occur once.
Result<void> check_configuration(const Json& configuration, const MergeShape* shape);

// The configuration wins where both have a value; null wins over a scalar and leaves objects and
// lists that merge as they were. Items of keyed lists and sets keep the order of the configuration,
// with the items only the object has where they were between them.
Json merged(Json live, const Json& configuration, const MergeShape* shape);

// Without the fields of the set, each with all below it. A list or object that loses all it had,
// and is not in the set, stays empty. (kube-apiserver's library makes it null, which no schema
// allows.)
Json without_fields(Json value, const FieldSet& gone, const MergeShape* shape);

}  // namespace amdahl::local
