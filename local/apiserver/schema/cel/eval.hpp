// Evaluating a checked expression. Inside this library only.
//
// Pure. Bounded by Steps. Failure: cel-go's words; Errc::kTooLarge when the bound was reached.
#pragma once

#include <optional>

#include "base/result.hpp"
#include "local/apiserver/schema/cel/ast.hpp"
#include "local/apiserver/schema/cel/value.hpp"

namespace amdahl::local::cel {

struct Activation {
  Value self = {};
  std::optional<Value> old_self = {};
};

Result<Value> evaluate(const Expr& expr, const Activation& activation, Steps& steps);

}  // namespace amdahl::local::cel
