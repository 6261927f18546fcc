// What kube-apiserver says of a configuration that does not fit its kind; see field_merge.hpp.
#include <string_view>
#include <unordered_set>

#include "local/apiserver/patch/field_merge.hpp"
#include "local/apiserver/patch/path_element.hpp"

namespace amdahl::local {

// NOLINTBEGIN(misc-no-recursion): values are at most kDepthMax deep.
namespace {

Result<void> check_value(const Json& value, const MergeShape* shape, FieldPath& path);

template <class... Args>
std::unexpected<Error> complaint(const FieldPath& path, fmt::format_string<Args...> format,
                                 Args&&... args) {
  return fail(Errc::kTerminal, "{}: {}", shown_path(path),
              fmt::format(format, std::forward<Args>(args)...));
}

std::unexpected<Error> unexpected_kind(const FieldPath& path, std::string_view expected,
                                       const Json& value) {
  return complaint(path, "expected {}, got {}", expected, value.type_name());
}

Result<void> check_items(const Json& list, const MergeShape& shape, FieldPath& path) {
  std::unordered_set<std::string> seen;
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto element = item_element(shape, list[i]);
    if (!element) return complaint(path, "element {}: {}", i, element.error().context);
    if (!seen.insert(*element).second)
      return complaint(path, "duplicate entries for key {}", shown_element(*element));
    path.push_back(std::move(*element));
    TRY(check_value(list[i], shape.item.get(), path));
    path.pop_back();
  }
  return {};
}

Result<void> check_plain_items(const Json& list, const MergeShape& shape, FieldPath& path) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    path.push_back(fmt::format("i:{}", i));
    TRY(check_value(list[i], shape.item.get(), path));
    path.pop_back();
  }
  return {};
}

Result<void> check_members(const Json& object, const MergeShape& shape, FieldPath& path) {
  for (const auto& [name, value] : object.items()) {
    path.push_back(member_element(name));
    if (shape.closed && !is_named(&shape, name))
      return complaint(path, "field not declared in schema");
    TRY(check_value(value, member_shape(&shape, name), path));
    path.pop_back();
  }
  return {};
}

Result<void> check_scalar(const Json& value, const MergeShape& shape, const FieldPath& path) {
  switch (shape.scalar) {
    case ScalarType::kNumber:
      if (value.is_number()) return {};
      return unexpected_kind(path, "numeric (int or float)", value);
    case ScalarType::kText:
      if (value.is_string()) return {};
      return unexpected_kind(path, "string", value);
    case ScalarType::kFlag:
      if (value.is_boolean()) return {};
      return unexpected_kind(path, "boolean", value);
    case ScalarType::kAny:
      break;
  }
  if (!value.is_structured()) return {};
  return unexpected_kind(path, "any scalar", value);
}

// It merges as one value, but what is in it has to fit all the same.
Result<void> check_atomic(const Json& value, const MergeShape& shape, FieldPath& path) {
  if (shape.list && !value.is_array()) return unexpected_kind(path, "list", value);
  const bool is_map = !shape.list && (shape.closed || shape.item != nullptr);
  if (is_map && !value.is_object()) return unexpected_kind(path, "map", value);
  return value.is_array()    ? check_plain_items(value, shape, path)
         : value.is_object() ? check_members(value, shape, path)
                             : unexpected_kind(path, "map", value);
}

Result<void> check_value(const Json& value, const MergeShape* shape, FieldPath& path) {
  if (value.is_null() || shape == nullptr) return {};
  switch (shape->kind) {
    case MergeKind::kUntyped:
      return {};
    case MergeKind::kScalar:
      return check_scalar(value, *shape, path);
    case MergeKind::kObject:
      return value.is_object() ? check_members(value, *shape, path)
                               : unexpected_kind(path, "map", value);
    case MergeKind::kSetList:
    case MergeKind::kMapList:
      return value.is_array() ? check_items(value, *shape, path)
                              : unexpected_kind(path, "list", value);
    case MergeKind::kAtomic:
      break;
  }
  return check_atomic(value, *shape, path);
}

}  // namespace

Result<void> check_configuration(const Json& configuration, const MergeShape* shape) {
  FieldPath path;
  return check_value(configuration, shape, path);
}

// NOLINTEND(misc-no-recursion)

}  // namespace amdahl::local
