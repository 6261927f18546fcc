#include "local/apiserver/schema/merge_shape_of.hpp"

#include <unordered_map>

namespace amdahl::local {
namespace {

MergeShapePtr of_kind(MergeKind kind) {
  auto made = std::make_shared<MergeShape>();
  made->kind = kind;
  return made;
}

// Metadata has the same shape everywhere, whatever a CRD says of it.
MergeShapePtr object_meta_shape() {
  auto made = std::make_shared<MergeShape>();
  made->kind = MergeKind::kObject;
  for (const std::string_view name :
       {"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
        "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    made->fields.emplace(name, of_kind(MergeKind::kScalar));
  }
  auto map = std::make_shared<MergeShape>();
  map->kind = MergeKind::kObject;
  map->item = of_kind(MergeKind::kScalar);
  made->fields.emplace("labels", map);
  made->fields.emplace("annotations", map);
  auto finalizers = std::make_shared<MergeShape>();
  finalizers->kind = MergeKind::kSetList;
  finalizers->item = of_kind(MergeKind::kScalar);
  finalizers->patch_merge = true;
  made->fields.emplace("finalizers", finalizers);
  auto owners = std::make_shared<MergeShape>();
  owners->kind = MergeKind::kMapList;
  owners->keys = {"uid"};
  owners->patch_merge = true;
  owners->patch_merge_key = "uid";
  // An owner reference is one value: x-kubernetes-map-type atomic.
  owners->item = of_kind(MergeKind::kAtomic);
  made->fields.emplace("ownerReferences", owners);
  made->fields.emplace("managedFields", of_kind(MergeKind::kAtomic));
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
  made.fields["apiVersion"] = of_kind(MergeKind::kScalar);
  made.fields["kind"] = of_kind(MergeKind::kScalar);
  made.fields["metadata"] = object_meta_shape();
}

class ShapeReader {
 public:
  // Nodes of built-in kinds are shared, and so are their shapes.
  MergeShapePtr shape(const Schema* schema) {
    if (schema == nullptr) return nullptr;
    if (const auto done = done_.find(schema); done != done_.end()) return done->second;
    MergeShapePtr made = make(*schema);
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
        break;
    }
    made->patch_merge_key = schema.patch_merge_key;
    made->patch_merge = schema.patch_merge;
    made->patch_retain_keys = schema.patch_retain_keys;
    return made;
  }

  void list(const Schema& schema, MergeShape& made) {
    made.item = shape(schema.items.get());
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
    const bool closed = !schema.properties.empty() || schema.other != nullptr;
    made.kind = schema.map_type == MapType::kAtomic ? MergeKind::kAtomic
                : closed                            ? MergeKind::kObject
                                                    : MergeKind::kUntyped;
    for (const auto& [key, child] : schema.properties) made.fields.emplace(key, shape(child.get()));
    made.item = shape(schema.other.get());
    if (schema.embedded_resource) add_type_meta(schema, made);
  }

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
