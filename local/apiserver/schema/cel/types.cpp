#include "local/apiserver/schema/cel/types.hpp"

#include <fmt/format.h>

#include "local/apiserver/schema/cel/check.hpp"
#include "local/apiserver/schema/cel/meta_names.hpp"

namespace amdahl::local::cel {
namespace {

Kind text_kind(Format format) {
  switch (format) {
    case Format::kDuration:
      return Kind::kDuration;
    case Format::kDate:
    case Format::kDateTime:
      return Kind::kTimestamp;
    default:
      return Kind::kString;
  }
}

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kDynamic:
      return "dyn";
    case Kind::kBool:
      return "bool";
    case Kind::kBytes:
      return "bytes";
    case Kind::kDouble:
      return "double";
    case Kind::kDuration:
      return "google.protobuf.Duration";
    case Kind::kInt:
      return "int";
    case Kind::kList:
      return "list";
    case Kind::kMap:
      return "map";
    case Kind::kNull:
      return "null";
    case Kind::kObject:
      return "object";
    case Kind::kOptional:
      return "optional_type";
    case Kind::kQuantity:
      return "kubernetes.Quantity";
    case Kind::kString:
      return "string";
    case Kind::kTimestamp:
      return "google.protobuf.Timestamp";
    case Kind::kType:
      return "type";
    case Kind::kUint:
      return "uint";
  }
  return "dyn";
}

Type plain(Kind kind) {
  return Type{.kind = kind};
}

bool may_equal(const Type& a, const Type& b) {
  const auto any = [&](Kind kind) { return a.kind == kind || b.kind == kind; };
  if (a.kind == b.kind || any(Kind::kDynamic) || any(Kind::kNull)) return true;
  return any(Kind::kObject) && any(Kind::kMap);
}

bool may_order(const Type& a, const Type& b) {
  if (a.kind == Kind::kDynamic || b.kind == Kind::kDynamic) return true;
  if (is_numeric(a.kind) && is_numeric(b.kind)) return true;
  if (a.kind != b.kind) return false;
  return a.kind == Kind::kBool || a.kind == Kind::kString || a.kind == Kind::kBytes ||
         a.kind == Kind::kTimestamp || a.kind == Kind::kDuration;
}

std::optional<Type> sum_type(Op op, const Type& a, const Type& b) {
  const bool minus = op == Op::kSubtract;
  if (a.kind == Kind::kDynamic || b.kind == Kind::kDynamic) return plain(Kind::kDynamic);
  if (a.kind == Kind::kTimestamp && b.kind == Kind::kDuration) return a;
  if (a.kind == Kind::kTimestamp && b.kind == a.kind && minus) return plain(Kind::kDuration);
  if (a.kind == Kind::kDuration && b.kind == Kind::kTimestamp && !minus) return b;
  if (a.kind != b.kind) return std::nullopt;
  if (is_numeric(a.kind) || a.kind == Kind::kDuration) return a;
  if (!minus && a.kind == Kind::kString) return a;
  if (!minus && a.kind == Kind::kList) {
    return Type{.kind = Kind::kList, .item = std::make_shared<const Type>(item_type(a))};
  }
  return std::nullopt;
}

std::optional<Type> product_type(Op op, const Type& a, const Type& b) {
  if (a.kind == Kind::kDynamic || b.kind == Kind::kDynamic) return plain(Kind::kDynamic);
  if (a.kind != b.kind || !is_numeric(a.kind)) return std::nullopt;
  if (op == Op::kModulo && a.kind == Kind::kDouble) return std::nullopt;
  return a;
}

}  // namespace

bool is_numeric(Kind kind) {
  return kind == Kind::kInt || kind == Kind::kUint || kind == Kind::kDouble;
}

bool may_be(const Type& type, Kind kind) {
  return type.kind == kind || type.kind == Kind::kDynamic || kind == Kind::kDynamic;
}

bool is_exposed(const Schema& schema) {
  if (schema.int_or_string) return true;
  switch (schema.type) {
    case SchemaType::kNone:
      return false;
    case SchemaType::kArray:
      return schema.items != nullptr && is_exposed(*schema.items);
    case SchemaType::kObject:
      return schema.other == nullptr || is_exposed(*schema.other);
    default:
      return true;
  }
}

Type type_of(const Schema& schema, bool resource) {
  if (schema.int_or_string) return {};
  switch (schema.type) {
    case SchemaType::kNone:
      return {};
    case SchemaType::kArray:
      return Type{.kind = Kind::kList, .schema = &schema};
    case SchemaType::kBoolean:
      return plain(Kind::kBool);
    case SchemaType::kInteger:
      return plain(Kind::kInt);
    case SchemaType::kNumber:
      return plain(Kind::kDouble);
    case SchemaType::kString:
      return plain(text_kind(schema.checks.format));
    case SchemaType::kObject:
      break;
  }
  const Kind kind = schema.other != nullptr ? Kind::kMap : Kind::kObject;
  return Type{.kind = kind, .schema = &schema, .resource = resource};
}

Type type_of(const Value& literal) {
  if (literal.as<bool>() != nullptr) return plain(Kind::kBool);
  if (literal.as<std::int64_t>() != nullptr) return plain(Kind::kInt);
  if (literal.as<std::uint64_t>() != nullptr) return plain(Kind::kUint);
  if (literal.as<double>() != nullptr) return plain(Kind::kDouble);
  if (literal.as<std::string>() != nullptr) return plain(Kind::kString);
  if (literal.as<Bytes>() != nullptr) return plain(Kind::kBytes);
  if (literal.as<TypeName>() != nullptr) return plain(Kind::kType);
  return plain(Kind::kNull);
}

Type item_type(const Type& container) {
  if (container.item != nullptr) return *container.item;
  if (container.schema == nullptr) return {};
  const Schema* item =
      container.kind == Kind::kList ? container.schema->items.get() : container.schema->other.get();
  return item == nullptr ? Type{} : type_of(*item, item->embedded_resource);
}

std::optional<Type> field_type(const Type& target, const std::string& name) {
  if (target.kind == Kind::kDynamic) return Type{};
  if (target.kind == Kind::kMap) return item_type(target);
  if (target.kind != Kind::kObject || target.schema == nullptr) return std::nullopt;
  const auto key = unescaped(name);
  if (!key) return std::nullopt;
  if (target.resource) {
    if (const Schema* known = meta_names(*key)) return type_of(*known, false);
  }
  const auto found = target.schema->properties.find(*key);
  if (found == target.schema->properties.end() || !is_exposed(*found->second)) return std::nullopt;
  return type_of(*found->second, found->second->embedded_resource);
}

std::string shown(const Type& type) {
  if (type.kind == Kind::kList) return fmt::format("list({})", shown(item_type(type)));
  if (type.kind == Kind::kMap) return fmt::format("map(string, {})", shown(item_type(type)));
  return std::string(kind_name(type.kind));
}

std::optional<Type> operator_type(Op op, const Type& a, const Type& b) {
  const auto when = [](bool fits) {
    return fits ? std::optional(plain(Kind::kBool)) : std::nullopt;
  };
  switch (op) {
    case Op::kEqual:
    case Op::kNotEqual:
      return when(may_equal(a, b));
    case Op::kLess:
    case Op::kLessEqual:
    case Op::kGreater:
    case Op::kGreaterEqual:
      return when(may_order(a, b));
    case Op::kIn:
      if (b.kind == Kind::kMap) return when(may_be(a, Kind::kString) || b.schema == nullptr);
      return when(may_be(b, Kind::kList) && may_equal(a, item_type(b)));
    case Op::kIndex:
      if (b.kind == Kind::kDynamic || a.kind == Kind::kDynamic) return item_type(a);
      if (a.kind == Kind::kMap) return item_type(a);
      return a.kind == Kind::kList && b.kind == Kind::kInt ? std::optional(item_type(a))
                                                           : std::nullopt;
    case Op::kAdd:
    case Op::kSubtract:
      return sum_type(op, a, b);
    case Op::kMultiply:
    case Op::kDivide:
    case Op::kModulo:
      return product_type(op, a, b);
    default:
      return Type{};
  }
}

std::string_view operator_name(Op op) {
  switch (op) {
    case Op::kEqual:
      return "_==_";
    case Op::kNotEqual:
      return "_!=_";
    case Op::kLess:
      return "_<_";
    case Op::kLessEqual:
      return "_<=_";
    case Op::kGreater:
      return "_>_";
    case Op::kGreaterEqual:
      return "_>=_";
    case Op::kIn:
      return "@in";
    case Op::kIndex:
      return "_[_]";
    case Op::kAdd:
      return "_+_";
    case Op::kSubtract:
      return "_-_";
    case Op::kMultiply:
      return "_*_";
    case Op::kDivide:
      return "_/_";
    case Op::kModulo:
      return "_%_";
    case Op::kAnd:
      return "_&&_";
    case Op::kOr:
      return "_||_";
    case Op::kNot:
      return "!_";
    case Op::kNegate:
      return "-_";
    case Op::kChoose:
      return "_?_:_";
    default:
      return "";
  }
}

}  // namespace amdahl::local::cel
