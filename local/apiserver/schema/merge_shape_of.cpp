#include "local/apiserver/schema/merge_shape_of.hpp"

#include <unordered_map>
#include <utility>

namespace amdahl::local {
namespace {

MergeShapePtr scalar_of(ScalarType type) {
  auto made = std::make_shared<MergeShape>();
  made->kind = MergeKind::kScalar;
  made->scalar = type;
  return made;
}

ScalarType scalar_type(const Schema& schema) {
  switch (schema.type) {
    case SchemaType::kInteger:
    case SchemaType::kNumber:
      return ScalarType::kNumber;
    case SchemaType::kBoolean:
      return ScalarType::kFlag;
    case SchemaType::kString: {
      const std::string& format = schema.checks.format_name;
      return format.empty() || format == "byte" ? ScalarType::kText : ScalarType::kAny;
    }
    case SchemaType::kNone:
    case SchemaType::kArray:
    case SchemaType::kObject:
      break;
  }
  return ScalarType::kAny;
}

// An owner reference is one value: x-kubernetes-map-type atomic.
MergeShapePtr owner_shape() {
  auto made = std::make_shared<MergeShape>();
  made->kind = MergeKind::kAtomic;
  made->closed = true;
  for (const std::string_view name : {"apiVersion", "kind", "name", "uid"})
    made->fields.emplace(name, scalar_of(ScalarType::kText));
  for (const std::string_view name : {"controller", "blockOwnerDeletion"})
    made->fields.emplace(name, scalar_of(ScalarType::kFlag));
  return made;
}

MergeShapePtr managed_entry_shape() {
  auto made = std::make_shared<MergeShape>();
  made->kind = MergeKind::kObject;
  made->closed = true;
  for (const std::string_view name :
       {"apiVersion", "fieldsType", "manager", "operation", "subresource"})
    made->fields.emplace(name, scalar_of(ScalarType::kText));
  made->fields.emplace("time", scalar_of(ScalarType::kAny));
  made->fields.emplace("fieldsV1", std::make_shared<MergeShape>());
  return made;
}

// Metadata has the same shape everywhere, whatever a CRD says of it.
MergeShapePtr object_meta_shape() {
  auto made = std::make_shared<MergeShape>();
  made->kind = MergeKind::kObject;
  made->closed = true;
  for (const std::string_view name :
       {"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"}) {
    made->fields.emplace(name, scalar_of(ScalarType::kText));
  }
  for (const std::string_view name : {"generation", "deletionGracePeriodSeconds"}) {
    made->fields.emplace(name, scalar_of(ScalarType::kNumber));
  }
  for (const std::string_view name : {"creationTimestamp", "deletionTimestamp"}) {
    made->fields.emplace(name, scalar_of(ScalarType::kAny));
  }
  auto map = std::make_shared<MergeShape>();
  map->kind = MergeKind::kObject;
  map->item = scalar_of(ScalarType::kText);
  made->fields.emplace("labels", map);
  made->fields.emplace("annotations", map);
  auto finalizers = std::make_shared<MergeShape>();
  finalizers->kind = MergeKind::kSetList;
  finalizers->item = scalar_of(ScalarType::kText);
  finalizers->patch_merge = true;
  made->fields.emplace("finalizers", finalizers);
  auto owners = std::make_shared<MergeShape>();
  owners->kind = MergeKind::kMapList;
  owners->keys = {"uid"};
  owners->patch_merge = true;
  owners->patch_merge_key = "uid";
  owners->item = owner_shape();
  made->fields.emplace("ownerReferences", owners);
  auto managed = std::make_shared<MergeShape>();
  managed->kind = MergeKind::kAtomic;
  managed->list = true;
  managed->item = managed_entry_shape();
  made->fields.emplace("managedFields", std::move(managed));
  return made;
}

// What the schema itself says of metadata counts only when it describes all of it, as the schemas
// of built-in kinds do.
void add_type_meta(const Schema& schema, MergeShape& made) {
  const auto meta = schema.properties.find("metadata");
  if (meta != schema.properties.end() && meta->second->properties.contains("ownerReferences")) {
    return;
  }
  if (made.kind == MergeKind::kUntyped) made.kind = MergeKind::kObject;
  made.closed = made.closed || (schema.properties.empty() && !schema.preserve_unknown);
  made.fields["apiVersion"] = scalar_of(ScalarType::kText);
  made.fields["kind"] = scalar_of(ScalarType::kText);
  made.fields["metadata"] = object_meta_shape();
}

class ShapeReader {
 public:
  // Nodes of built-in kinds are shared, and so are their shapes.
  MergeShapePtr shape(const Schema* schema) {
    if (schema == nullptr) return nullptr;
    if (const auto done = done_.find(schema); done != done_.end()) return done->second;
    // Who keeps unknown fields keeps them in everything below.
    const bool around = std::exchange(open_, open_ || schema->preserve_unknown);
    MergeShapePtr made = make(*schema);
    open_ = around;
    done_.emplace(schema, made);
    return made;
  }

 private:
  MergeShapePtr make(const Schema& schema) {
    auto made = std::make_shared<MergeShape>();
    switch (schema.type) {
      case SchemaType::kNone:
        made->kind = schema.int_or_string ? MergeKind::kScalar : MergeKind::kUntyped;
        break;
      case SchemaType::kArray:
        list(schema, *made);
        break;
      case SchemaType::kObject:
        object(schema, *made);
        break;
      case SchemaType::kBoolean:
      case SchemaType::kInteger:
      case SchemaType::kNumber:
      case SchemaType::kString:
        made->kind = MergeKind::kScalar;
        made->scalar = scalar_type(schema);
        break;
    }
    made->patch_merge_key = schema.patch_merge_key;
    made->patch_merge = schema.patch_merge;
    made->patch_retain_keys = schema.patch_retain_keys;
    return made;
  }

  void list(const Schema& schema, MergeShape& made) {
    made.item = shape(schema.items.get());
    made.list = true;
    switch (schema.list_type) {
      case ListType::kUnset:
      case ListType::kAtomic:
        made.kind = MergeKind::kAtomic;
        break;
      case ListType::kSet:
        made.kind = MergeKind::kSetList;
        break;
      case ListType::kMap:
        made.kind = MergeKind::kMapList;
        made.keys = schema.list_map_keys;
        for (const std::string& key : schema.list_map_keys) {
          const Schema* field = schema.items == nullptr ? nullptr : schema.items->child(key);
          if (field != nullptr && field->default_value) {
            made.key_defaults.emplace(key, *field->default_value);
          }
        }
        break;
    }
  }

  void object(const Schema& schema, MergeShape& made) {
    made.kind = schema.map_type == MapType::kAtomic ? MergeKind::kAtomic : MergeKind::kObject;
    made.closed =
        !schema.properties.empty() && !open_ && schema.other_keys == OtherKeys::kUndeclared;
    for (const auto& [key, child] : schema.properties) made.fields.emplace(key, shape(child.get()));
    made.item = shape(schema.other.get());
    if (schema.embedded_resource) add_type_meta(schema, made);
  }

  bool open_ = false;
  std::unordered_map<const Schema*, MergeShapePtr> done_ = {};
};

}  // namespace

MergeShapePtr merge_shape_of(const Schema& schema, bool resource_root) {
  MergeShapePtr shape = ShapeReader().shape(&schema);
  if (!resource_root) return shape;
  auto root = std::make_shared<MergeShape>(*shape);
  add_type_meta(schema, *root);
  return root;
}

}  // namespace amdahl::local
