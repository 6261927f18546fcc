// What is known of an expression's value before it is evaluated. Inside this library only.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "local/apiserver/schema/cel/functions.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace amdahl::local::cel {

struct Type {
  Kind kind = Kind::kDynamic;
  const Schema* schema = nullptr;  // of objects, lists and maps of the resource
  bool resource = false;
  std::shared_ptr<const Type> item = {};  // of lists made by the rule, and of optionals
};

Type type_of(const Schema& schema, bool resource);
Type type_of(const Value& literal);
Type item_type(const Type& container);  // of a list's items or a map's values
// The type of a field, or nothing when rules cannot see one of this name.
std::optional<Type> field_type(const Type& target, const std::string& name);
std::string shown(const Type& type);  // "list(string)"

bool is_numeric(Kind kind);
bool may_be(const Type& type, Kind kind);  // is it, or may it turn out to be?

// Whether an operator takes operands of these types, and what it gives.
std::optional<Type> operator_type(Op op, const Type& a, const Type& b);
std::string_view operator_name(Op op);  // "_==_"

}  // namespace amdahl::local::cel
