#include "local/apiserver/kinds/builtin_schemas.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "local/apiserver/kinds/builtin_bytes.hpp"
#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/schema_shapes.hpp"

namespace amdahl::local {

namespace {

constexpr std::string_view kKindsKey = "x-kubernetes-group-version-kind";
constexpr std::string_view kQuantity = "io.k8s.apimachinery.pkg.api.resource.Quantity";
constexpr std::string_view kTime = "io.k8s.apimachinery.pkg.apis.meta.v1.Time";
constexpr std::string_view kMicroTime = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime";
constexpr std::string_view kIntOrString = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";

std::string kind_key(std::string_view group, std::string_view version, std::string_view kind) {
  std::string key(group);
  key += '/';
  key += version;
  key += '/';
  key += kind;
  return key;
}

// "io.k8s.api.core.v1.PodSpec" is v1.PodSpec in Go.
std::string go_name(std::string_view schema) {
  const std::size_t dot = schema.rfind('.');
  if (dot == std::string_view::npos) return std::string(schema);
  const std::size_t before = schema.rfind('.', dot - 1);
  return std::string(schema.substr(before == std::string_view::npos ? 0 : before + 1));
}

Primitive special(std::string_view name) {
  if (name == kQuantity) return Primitive::kQuantity;
  if (name == kTime) return Primitive::kTime;
  if (name == kMicroTime) return Primitive::kMicroTime;
  if (name == kIntOrString) return Primitive::kIntOrString;
  return Primitive::kAny;
}

std::pair<Primitive, std::string_view> scalar(std::string_view type, std::string_view format) {
  if (type == "string" && format == "byte") return {Primitive::kBytes, "[]uint8"};
  if (type == "string") return {Primitive::kString, "string"};
  if (type == "boolean") return {Primitive::kBool, "bool"};
  if (type == "integer" && format == "int32") return {Primitive::kInt32, "int32"};
  if (type == "integer") return {Primitive::kInt64, "int64"};
  if (type == "number") return {Primitive::kFloat, "float64"};
  return {Primitive::kAny, "interface {}"};
}

}  // namespace

const FieldType* TypeNode::field(std::string_view name) const {
  const auto found = std::ranges::lower_bound(fields, name, {}, &FieldType::name);
  return found == fields.end() || found->name != name ? nullptr : &*found;
}

bool FieldType::forgets_empty() const {
  return type->primitive == Primitive::kList && has_absent && absent.is_null();
}

BuiltinSchemas::BuiltinSchemas() {
  Json file = Json::parse(builtin_schema_bytes(), nullptr, false);
  AMDAHL_CHECK(file.is_object());
  for (auto& [name, schema] : file.items()) {
    for (const Json& kind : list_at(schema, {kKindsKey})) {
      names_[kind_key(text_at(kind, {"group"}), text_at(kind, {"version"}),
                      text_at(kind, {"kind"}))] = name;
    }
    schemas_[name] = std::move(schema);
  }
  for (const auto& [key, name] : names_) {
    compile_named(name);
    shapes_[name] = merge_shape_of(schemas_, name);
  }
  mark_forgetful();
}

// Types may contain themselves, so the marks spread until there is no new one.
void BuiltinSchemas::mark_forgetful() {
  for (bool again = true; again;) {
    again = false;
    for (TypeNode& node : nodes_) {
      const bool found = (node.item != nullptr && node.item->forgetful) ||
                         std::ranges::any_of(node.fields, [](const FieldType& field) {
                           return field.forgets_empty() || field.type->forgetful;
                         });
      again = again || (found && !node.forgetful);
      node.forgetful = node.forgetful || found;
    }
  }
}

std::string_view BuiltinSchemas::name(std::string_view group, std::string_view version,
                                      std::string_view kind) const {
  const auto found = names_.find(kind_key(group, version, kind));
  return found == names_.end() ? std::string_view() : std::string_view(found->second);
}

const Json* BuiltinSchemas::named(std::string_view name) const {
  const auto found = schemas_.find(name);
  return found == schemas_.end() ? nullptr : &found->second;
}

const TypeNode* BuiltinSchemas::type(std::string_view group, std::string_view version,
                                     std::string_view kind) const {
  const auto found = types_.find(name(group, version, kind));
  return found == types_.end() ? nullptr : found->second;
}

MergeShapePtr BuiltinSchemas::merge_shape(const Kind& kind) const {
  const auto found = shapes_.find(name(kind.group, kind.version, kind.kind));
  return found == shapes_.end() ? nullptr : found->second;
}

Json BuiltinSchemas::resolved_schema(const Kind& kind) const {
  const std::string_view found = name(kind.group, kind.version, kind.kind);
  return found.empty() ? Json() : resolve_schema(schemas_, found);
}

const TypeNode* BuiltinSchemas::compile_named(const std::string& name) {
  if (const auto known = types_.find(name); known != types_.end()) return known->second;
  const Json* schema = named(name);
  AMDAHL_CHECK(schema != nullptr);
  TypeNode& node = nodes_.emplace_back();
  // Entered before its fields are looked at, because a type may contain itself.
  types_[name] = &node;
  node.go_name = go_name(name);
  node.primitive = special(name);
  if (node.primitive == Primitive::kAny && schema->contains("properties")) {
    compile_struct(node, *schema);
  }
  return &node;
}

void BuiltinSchemas::compile_struct(TypeNode& node, const Json& schema) {
  node.primitive = Primitive::kStruct;
  for (const auto& [name, property] : map_at(schema, {"properties"}).items()) {
    FieldType field{.name = name, .type = compile(property)};
    field.keep_zero = flag_at(property, {"x-amdahl-keep"});
    if (const auto zero = property.find("x-amdahl-zero"); zero != property.end()) {
      field.has_absent = true;
      field.absent = *zero;
    }
    field.struct_value =
        field.type->primitive == Primitive::kStruct && property.contains("default");
    node.fields.push_back(std::move(field));
  }
}

const TypeNode* BuiltinSchemas::compile(const Json& schema) {
  if (const auto ref = schema.find("$ref"); ref != schema.end() && ref->is_string()) {
    return compile_named(ref->get<std::string>());
  }
  TypeNode& node = nodes_.emplace_back();
  const std::string type = text_at(schema, {"type"});
  if (type == "array") {
    node.primitive = Primitive::kList;
    node.item = compile(schema.at("items"));
    node.go_name = "[]" + node.item->go_name;
  } else if (type == "object" && schema.contains("additionalProperties")) {
    node.primitive = Primitive::kMap;
    node.item = compile(schema.at("additionalProperties"));
    node.go_name = "map[string]" + node.item->go_name;
  } else {
    const auto [primitive, name] = scalar(type, text_at(schema, {"format"}));
    node.primitive = primitive;
    node.go_name = name;
  }
  return &node;
}

}  // namespace amdahl::local
