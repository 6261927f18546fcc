// Rules of what each version of a CustomResourceDefinition has: schema, scale, columns, selectable
// fields. kube-apiserver keeps in one place what all versions share, and reports it there.
//
// Pure functions that add causes; parts of rules_crd.cpp.
#pragma once

#include "local/apiserver/kinds/causes.hpp"

namespace amdahl::local {

struct SharedParts {  // true: the same in every version, or in none
  bool schema = false;
  bool subresources = false;
  bool columns = false;
  bool selectable = false;
};
SharedParts shared_parts(const Json& versions);

// The parts that the version at `path` has for itself.
void check_own_parts(const FieldPath& path, const Json& version, const SharedParts& shared,
                     Causes& causes);
void check_shared_parts(const Json& versions, const SharedParts& shared, Causes& causes);

}  // namespace amdahl::local
