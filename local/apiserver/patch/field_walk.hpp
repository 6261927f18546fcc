// What fields a value has, and which ones differ between two values, along a MergeShape.
//
// Pure, any thread; shapes may be null. Values are at most kDepthMax deep: the caller checked.
// Failure: none. A list whose items cannot be told apart counts as one value.
#pragma once

#include "local/apiserver/patch/field_set.hpp"
#include "local/apiserver/patch/shape_walk.hpp"

namespace amdahl::local {

// What a value is where it stands; a list whose items cannot be told apart is one leaf.
Form usable_form(const MergeShape* shape, const Json& value);

// The fields an applied configuration speaks about: leaves, entries of maps, items of lists, and
// null or empty members.
FieldSet fields_of(const Json& value, const MergeShape* shape);

// No path is in two of the sets; all empty when nothing differs. The order of items in keyed lists
// and sets does not count.
struct FieldComparison {
  FieldSet removed = {};
  FieldSet modified = {};
  FieldSet added = {};
  bool same() const { return removed.empty() && modified.empty() && added.empty(); }
  FieldSet changed() const { return modified.united(added); }
  void ignore(const FieldSet& trees);
};
// Null stands for a value that is not there.
FieldComparison compared(const Json* before, const Json* after, const MergeShape* shape);

// With every struct member on the way to a path: "spec.replicas" also makes "spec" a member, but an
// entry of a map stays out unless it was in.
FieldSet with_named_parents(const FieldSet& set, const MergeShape* shape);

}  // namespace amdahl::local
