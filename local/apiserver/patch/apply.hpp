// Field ownership: what every write does to metadata.managedFields, and server-side apply.
//
// Pure: the time comes with the writer. Any thread; nothing is kept after a call.
// Failure: kCorrupt for a configuration that may not be applied at all (400), kTerminal for one
// that does not fit the shape (kube-apiserver: 500), kTooLarge for deep values. A conflict with
// other managers is an outcome, not a failure.
//
// Entries of other apiVersions of the kind are read as if they were of this one: the embedded
// server stores one shape a kind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "local/apiserver/model/cause.hpp"
#include "local/apiserver/model/merge_shape.hpp"
#include "local/apiserver/patch/field_set.hpp"

namespace amdahl::local {

// What the kind and the subresource say about ownership. Both outlive the call.
struct FieldRules {
  const MergeShape* shape = nullptr;  // of the whole object; null: deduced from values
  // Trees this endpoint does not write: {status} for the object itself when the kind has that
  // subresource, {spec} for /status. They are never owned, and left out of what is applied.
  FieldSet reset_fields = {};
  // What an object of the kind shows before anybody set a field ({"spec":{}}). A new object that
  // still has it does not own it. Null: nothing.
  const Json* unset = nullptr;
};

struct FieldWriter {
  std::string manager = {};      // "" becomes "unknown"
  std::string api_version = {};  // of the request: "apps/v1"
  std::string subresource = {};  // "status", "scale"; "" for the object itself
  WallTime now = {};
};

// After a create, an update or a patch that is not an apply: brings managedFields of `written` up
// to date, or leaves it as it was and says why. `live` is what was stored before, null for a
// create. The fields that differ now belong to the writer and to nobody else; an object that has no
// managedFields gets none by an update. managedFields in `written` replace the stored ones, unless
// they do not parse or a subresource is written; an empty list or [{}] clears them.
Result<void> track_update(const FieldRules& rules, const FieldWriter& writer, const Json* live,
                          Json& written);

// Status 409, reason Conflict.
struct ApplyConflict {
  std::string message = {};        // "Apply failed with 1 conflict: conflict with ...: .spec.x"
  std::vector<Cause> causes = {};  // one for each field and manager
};
struct ApplyOutcome {
  Json object = {};  // to be stored; equal to `live` when the apply changed nothing
  std::optional<ApplyConflict> conflict = std::nullopt;  // then `object` is null
};

// Merges the configuration into `live` (null: it does not exist yet), removes what this manager
// applied before and no longer does, unless somebody else owns it, and records the ownership.
// Without `force` fields that other managers own with another value are a conflict. The caller
// checks kind, name and uid before, and defaults and validates the object afterwards.
Result<ApplyOutcome> server_side_apply(const FieldRules& rules, const FieldWriter& writer,
                                       const Json* live, const Json& configuration, bool force);

}  // namespace amdahl::local
