#include "local/apiserver/patch/shape_walk.hpp"

namespace amdahl::local {

Form form_of(const MergeShape* shape, const nlohmann::json& value) {
  switch (shape == nullptr ? MergeKind::kUntyped : shape->kind) {
    case MergeKind::kUntyped:
    case MergeKind::kObject:
      return value.is_object() ? Form::kMembers : Form::kLeaf;
    case MergeKind::kSetList:
      return value.is_array() ? Form::kSet : Form::kLeaf;
    case MergeKind::kMapList:
      return value.is_array() ? Form::kKeyed : Form::kLeaf;
    case MergeKind::kScalar:
    case MergeKind::kAtomic:
      break;
  }
  return Form::kLeaf;
}

const MergeShape* member_shape(const MergeShape* shape, std::string_view name) {
  if (shape == nullptr) return nullptr;
  const auto found = shape->fields.find(name);
  return found == shape->fields.end() ? shape->item.get() : found->second.get();
}

const MergeShape* item_shape(const MergeShape* shape) {
  return shape == nullptr ? nullptr : shape->item.get();
}

bool is_named(const MergeShape* shape, std::string_view name) {
  return shape != nullptr && shape->fields.contains(name);
}

}  // namespace amdahl::local
