// A parsed expression. Inside this library only.
//
// Immutable once parsed and checked; shared between threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "local/apiserver/schema/cel/value.hpp"
#include "local/apiserver/schema/pattern.hpp"

namespace amdahl::local::cel {

enum class Op : std::uint8_t {
  kLiteral,
  kIdentifier,  // name
  kSelect,      // args[0].name
  kHas,         // has(args[0].name)
  kIndex,       // args[0][args[1]]
  kCall,        // name(args), or args[0].name(args[1..]) when member
  kList,
  kMap,  // args: key, value, key, value
  kAnd,  // any number of args, as kOr
  kOr,
  kNot,
  kNegate,
  kChoose,  // args[0] ? args[1] : args[2]
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kAll,  // args[0].all(name, args[1])
  kExists,
  kExistsOne,
  kFilter,
  kTransform,  // map(name, args[1]), or map(name, args[1], args[2]): filter, then transform
};

struct Function;
struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

struct Expr {
  Op op = Op::kLiteral;
  std::size_t at = 0;  // in the source: what an error points to
  int depth = 1;       // of the tree
  Value literal = {};
  std::string name = {};
  std::vector<ExprPtr> args = {};
  bool member = false;
  const Function* function = nullptr;  // of kCall
  PatternPtr pattern = {};             // of matches() with a literal
};

inline constexpr int kExprDepthMax = 200;
inline constexpr std::size_t kExprNodesMax = 4'000;

}  // namespace amdahl::local::cel
