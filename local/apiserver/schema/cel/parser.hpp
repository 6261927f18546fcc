// From the source of a CEL expression to its tree. Inside this library only.
//
// Failure: what is wrong, with the place in the source. Bounded: kExprDepthMax, kExprNodesMax.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "local/apiserver/schema/cel/ast.hpp"

namespace amdahl::local::cel {

Result<ExprPtr> parse(std::string_view source);

}  // namespace amdahl::local::cel
