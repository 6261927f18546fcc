// The functions rules may call. Inside this library only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.hpp"
#include "local/apiserver/schema/cel/ast.hpp"
#include "local/apiserver/schema/cel/value.hpp"

namespace amdahl::local::cel {

enum class Kind : std::uint8_t {
  kDynamic,  // known at run time only
  kBool,
  kBytes,
  kDouble,
  kDuration,
  kInt,
  kList,
  kMap,
  kNull,
  kObject,
  kOptional,
  kQuantity,
  kString,
  kTimestamp,
  kType,
  kUint,
};

struct Call {
  const Expr& expr;
  std::span<const Value> args;  // the target first
  Steps& steps;
};

struct Function {
  std::string_view name = {};
  bool member = false;
  std::size_t args_min = 0;  // without the target
  std::size_t args_max = 0;
  Kind result = Kind::kDynamic;
  Kind target = Kind::kDynamic;  // of members: what they are called on
  Result<Value> (*call)(const Call& call) = nullptr;
};

// Null when there is none of this name and form.
const Function* find_function(std::string_view name, bool member, std::size_t args);
bool any_function(std::string_view name);

std::span<const Function> conversion_functions();
std::span<const Function> text_functions();
std::span<const Function> list_functions();
std::span<const Function> unit_functions();  // quantities, durations, optionals

}  // namespace amdahl::local::cel
