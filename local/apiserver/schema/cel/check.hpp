// Finding out before a rule runs that it cannot: names and fields that do not exist, functions
// outside the subset, types that do not go together. Inside this library only.
//
// Failure: cel-go's words with the place in the source.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "local/apiserver/schema/cel/ast.hpp"
#include "local/apiserver/schema/cel/functions.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace amdahl::local::cel {

struct Scope {
  const Schema& self;
  bool resource_root = false;
  bool optional_old_self = false;
};

struct Checked {
  ExprPtr expr = {};  // the same tree, with functions and patterns found
  Kind kind = Kind::kDynamic;
  bool uses_old_self = false;
};

Result<Checked> check(std::string_view source, const ExprPtr& expr, const Scope& scope);

// Whether rules can see values of this schema at all.
bool is_exposed(const Schema& schema);

}  // namespace amdahl::local::cel
