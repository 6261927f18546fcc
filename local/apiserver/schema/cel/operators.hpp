// The arithmetic of CEL: overflow is an error, never a wrapped value. Inside this library only.
#pragma once

#include "base/result.hpp"
#include "local/apiserver/schema/cel/ast.hpp"
#include "local/apiserver/schema/cel/value.hpp"

namespace amdahl::local::cel {

// + - * / % of numbers, + of texts and lists, + and - of times.
Result<Value> arithmetic(Op op, const Value& a, const Value& b, Steps& steps);
Result<Value> negated(const Value& value);
Result<Value> contained(const Value& needle, const Value& container, Steps& steps);
Result<Value> indexed(const Value& container, const Value& index);

}  // namespace amdahl::local::cel
