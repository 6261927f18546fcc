#include "local/apiserver/kinds/schema_shapes.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "local/apiserver/kinds/builtin_schemas.hpp"
#include "local/apiserver/kinds/json_access.hpp"

namespace amdahl::local {

namespace {

ScalarType scalar_type(std::string_view type, std::string_view format) {
  if (type == "integer" || type == "number") return ScalarType::kNumber;
  if (type == "boolean") return ScalarType::kFlag;
  if (format == "int-or-string") return ScalarType::kUnchecked;
  const bool text = type == "string" && (format.empty() || format == "byte");
  return text ? ScalarType::kText : ScalarType::kAny;
}

// Names of the schemas around the place that is being read: where one returns, the circle is cut.
using Around = std::vector<std::string_view>;

std::string_view ref_of(const Json& schema) {
  const auto ref = schema.find("$ref");
  return ref != schema.end() && ref->is_string()
             ? std::string_view(ref->get_ref<const std::string&>())
             : std::string_view();
}

class ShapeReader {
 public:
  explicit ShapeReader(const SchemaMap& schemas) : schemas_(schemas) {}

  MergeShapePtr named(std::string_view name) {
    if (std::ranges::find(around_, name) != around_.end()) return nullptr;
    const auto schema = schemas_.find(name);
    if (schema == schemas_.end() || around_.size() >= kStructureDepthMax) return nullptr;
    around_.push_back(name);
    MergeShapePtr shape = read(schema->second);
    around_.pop_back();
    return shape;
  }

  MergeShapePtr read(const Json& schema) {
    auto shape = std::make_shared<MergeShape>();
    if (const std::string_view ref = ref_of(schema); !ref.empty()) {
      const MergeShapePtr target = named(ref);
      if (target == nullptr) return nullptr;
      *shape = *target;
    } else {
      read_type(schema, *shape);
    }
    read_strategy(schema, *shape);
    return shape;
  }

 private:
  void read_type(const Json& schema, MergeShape& shape) {
    const std::string type = text_at(schema, {"type"});
    if (type == "array") return read_list(schema, shape);
    if (schema.contains("oneOf") || (!type.empty() && type != "object")) {
      shape.kind = MergeKind::kScalar;
      shape.scalar = scalar_type(type, text_at(schema, {"format"}));
      return;
    }
    if (const Json* values = at(schema, {"additionalProperties"}); values != nullptr) {
      shape.kind = MergeKind::kObject;
      shape.item = read(*values);
    }
    for (const auto& [name, property] : map_at(schema, {"properties"}).items()) {
      shape.kind = MergeKind::kObject;
      shape.fields[name] = read(property);
      shape.closed = !schema.contains("additionalProperties");
    }
    if (text_at(schema, {"x-kubernetes-map-type"}) == "atomic") shape.kind = MergeKind::kAtomic;
  }

  void read_list(const Json& schema, MergeShape& shape) {
    const std::string type = text_at(schema, {"x-kubernetes-list-type"});
    shape.kind = MergeKind::kAtomic;
    shape.list = true;
    if (type == "set") shape.kind = MergeKind::kSetList;
    if (type == "map") shape.kind = MergeKind::kMapList;
    const Json& items = schema.at("items");
    shape.item = read(items);
    for (const Json& key : list_at(schema, {"x-kubernetes-list-map-keys"})) {
      shape.keys.push_back(key.get<std::string>());
      const auto target = schemas_.find(ref_of(items));
      if (target == schemas_.end()) continue;
      const Json* value = at(target->second, {"properties", shape.keys.back(), "default"});
      if (value != nullptr) shape.key_defaults[shape.keys.back()] = *value;
    }
  }

  // Stands at the field, beside the reference to its type.
  static void read_strategy(const Json& schema, MergeShape& shape) {
    const std::string strategy = text_at(schema, {"x-kubernetes-patch-strategy"});
    shape.patch_merge_key = text_at(schema, {"x-kubernetes-patch-merge-key"});
    shape.patch_merge = strategy.find("merge") != std::string::npos;
    shape.patch_retain_keys = strategy.find("retainKeys") != std::string::npos;
    if (text_at(schema, {"x-kubernetes-map-type"}) == "atomic") shape.kind = MergeKind::kAtomic;
  }

  const SchemaMap& schemas_;
  Around around_;
};

class Resolver {
 public:
  explicit Resolver(const SchemaMap& schemas) : schemas_(schemas) {}

  Json named(std::string_view name) {
    const auto schema = schemas_.find(name);
    const bool again = std::ranges::find(around_, name) != around_.end();
    if (again || schema == schemas_.end() || around_.size() >= kStructureDepthMax) {
      return {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
    }
    around_.push_back(name);
    Json resolved = read(schema->second);
    around_.pop_back();
    return resolved;
  }

 private:
  Json read(const Json& schema) {
    if (!schema.is_object()) return schema;
    Json resolved = Json::object();
    if (const std::string_view ref = ref_of(schema); !ref.empty()) resolved = named(ref);
    for (const auto& [name, value] : schema.items()) {
      if (name == "$ref" || name.starts_with("x-amdahl-")) continue;
      if (name == "properties") {
        for (const auto& [field, property] : value.items()) {
          resolved["properties"][field] = read(property);
        }
      } else if (name == "items" || name == "additionalProperties") {
        resolved[name] = read(value);
      } else {
        resolved[name] = value;
      }
    }
    return resolved;
  }

  const SchemaMap& schemas_;
  Around around_;
};

}  // namespace

MergeShapePtr merge_shape_of(const SchemaMap& schemas, std::string_view name) {
  return ShapeReader(schemas).named(name);
}

Json resolve_schema(const SchemaMap& schemas, std::string_view name) {
  return Resolver(schemas).named(name);
}

}  // namespace amdahl::local
