// Whether an object satisfies a schema, in the words of a kube-apiserver 1.34.
//
// Pure; any thread. Failure is the result: every cause, at most kCausesMax. Metadata is not looked
// at here (names, labels: the caller's), apart from what the schema's own rules say about it.
#pragma once

#include <string>
#include <vector>

#include "local/apiserver/schema/schema.hpp"

namespace amdahl::local {

// `before` is the stored object on an update and null on a create. It decides which transition
// rules run, and forgives what is invalid but did not change (validation ratcheting). Order: what
// the caller found in metadata, shape and values, what he found of scale, embedded resources,
// duplicates in list maps and sets, rules. Rules run only when the shape is right; otherwise one
// cause says that they did not.
struct CallersCauses {
  std::vector<Cause> of_metadata = {};
  std::vector<Cause> of_scale = {};
};
std::vector<Cause> validate(const Schema& schema, const Json& now, const Json* before,
                            CallersCauses found = {});

// The same for a write to the status subresource: of the values only those of the status are looked
// at, and messages name them from there ("phase in body ...").
std::vector<Cause> validate_status(const Schema& schema, const Json& now, const Json& before,
                                   CallersCauses found = {});

// The steps, for callers that check a part: causes name fields below `path`.
struct Validation {
  const Schema& schema;
  const Json& now;
  const Json* before = nullptr;
  std::string path = {};
};
std::vector<Cause> validate_values(const Validation& input);
std::vector<Cause> validate_embedded(const Validation& input);  // `now` itself is not one
std::vector<Cause> validate_lists(const Validation& input);
std::vector<Cause> validate_rules(const Validation& input, bool resource_root);

}  // namespace amdahl::local
