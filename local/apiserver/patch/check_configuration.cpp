// What kube-apiserver says of a configuration that does not fit its kind; see field_merge.hpp.
#include <string_view>
#include <unordered_set>

#include "local/apiserver/patch/field_merge.hpp"
#include "local/apiserver/patch/path_element.hpp"

namespace amdahl::local {

// NOLINTBEGIN(misc-no-recursion): values are at most kDepthMax deep.
namespace {

constexpr std::size_t kComplaintsMax = 100;

class Checker {
 public:
  void value(const Json& value, const MergeShape* shape);
  Result<void> result() const;

 private:
  template <class... Args>
  void complain(fmt::format_string<Args...> format, Args&&... args) {
    if (complaints_.size() < kComplaintsMax)
      complaints_.push_back(fmt::format("{}: {}", shown_path(path_),
                                        fmt::format(format, std::forward<Args>(args)...)));
  }
  void unexpected_kind(std::string_view expected, const Json& value) {
    complain("expected {}, got {}", expected, value.type_name());
  }
  void items(const Json& list, const MergeShape& shape);
  void plain_items(const Json& list, const MergeShape& shape);
  void members(const Json& object, const MergeShape& shape);
  void scalar(const Json& value, const MergeShape& shape);
  void atomic(const Json& value, const MergeShape& shape);

  FieldPath path_ = {};
  std::vector<std::string> complaints_ = {};
};

// Without its key an item has no name under which what is below it could be told.
void Checker::items(const Json& list, const MergeShape& shape) {
  std::unordered_set<std::string> seen;
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto element = item_element(shape, list[i]);
    if (!element) return complain("element {}: {}", i, element.error().context);
    if (!seen.insert(*element).second)
      complain("duplicate entries for key {}", shown_element(*element));
    path_.push_back(std::move(*element));
    value(list[i], shape.item.get());
    path_.pop_back();
  }
}

void Checker::plain_items(const Json& list, const MergeShape& shape) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    path_.push_back(fmt::format("i:{}", i));
    value(list[i], shape.item.get());
    path_.pop_back();
  }
}

// kube-apiserver leaves an object at the first field that it does not know.
void Checker::members(const Json& object, const MergeShape& shape) {
  for (const auto& [name, member] : object.items()) {
    path_.push_back(member_element(name));
    const bool known = !shape.closed || is_named(&shape, name);
    if (known) {
      value(member, member_shape(&shape, name));
    } else {
      complain("field not declared in schema");
    }
    path_.pop_back();
    if (!known) return;
  }
}

void Checker::scalar(const Json& value, const MergeShape& shape) {
  switch (shape.scalar) {
    case ScalarType::kNumber:
      if (!value.is_number()) unexpected_kind("numeric (int or float)", value);
      return;
    case ScalarType::kText:
      if (!value.is_string()) unexpected_kind("string", value);
      return;
    case ScalarType::kFlag:
      if (!value.is_boolean()) unexpected_kind("boolean", value);
      return;
    case ScalarType::kAny:
      if (value.is_structured()) unexpected_kind("any scalar", value);
      return;
    case ScalarType::kUnchecked:
      return;
  }
}

// It merges as one value, but what is in it has to fit all the same.
void Checker::atomic(const Json& value, const MergeShape& shape) {
  const bool is_map = !shape.list && (shape.closed || shape.item != nullptr);
  if (shape.list && !value.is_array()) return unexpected_kind("list", value);
  if (is_map && !value.is_object()) return unexpected_kind("map", value);
  if (value.is_array()) return plain_items(value, shape);
  if (value.is_object()) return members(value, shape);
  unexpected_kind("map", value);
}

void Checker::value(const Json& value, const MergeShape* shape) {
  if (value.is_null() || shape == nullptr) return;
  switch (shape->kind) {
    case MergeKind::kUntyped:
      return;
    case MergeKind::kScalar:
      return scalar(value, *shape);
    case MergeKind::kObject:
      return value.is_object() ? members(value, *shape) : unexpected_kind("map", value);
    case MergeKind::kSetList:
    case MergeKind::kMapList:
      return value.is_array() ? items(value, *shape) : unexpected_kind("list", value);
    case MergeKind::kAtomic:
      return atomic(value, *shape);
  }
}

Result<void> Checker::result() const {
  if (complaints_.empty()) return {};
  if (complaints_.size() == 1) return fail(Errc::kTerminal, "{}", complaints_.front());
  return fail(Errc::kTerminal, "errors:\n  {}", fmt::join(complaints_, "\n  "));
}

}  // namespace

Result<void> check_configuration(const Json& configuration, const MergeShape* shape) {
  Checker checker;
  checker.value(configuration, shape);
  return checker.result();
}

// NOLINTEND(misc-no-recursion)

}  // namespace amdahl::local
