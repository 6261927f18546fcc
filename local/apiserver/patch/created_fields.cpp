#include "local/apiserver/patch/created_fields.hpp"

#include <map>
#include <utility>

#include "local/apiserver/patch/field_walk.hpp"
#include "local/apiserver/patch/ownership.hpp"
#include "local/apiserver/patch/path_element.hpp"

namespace amdahl::local {

// NOLINTBEGIN(misc-no-recursion): values are at most kDepthMax deep.
namespace {

// What is owned at one place and below it.
struct Owned {
  bool here = false;
  Json::object_t below = {};  // FieldsV1 of the children, by element
};

// What is not owned, from the same place on; null: nothing more.
struct Unowned {
  const FieldSet* reset = nullptr;      // with all that is below
  const FieldSet* ownership = nullptr;  // the same
  const FieldSet* paths = nullptr;

  Unowned child(std::string_view element) const {
    const auto at = [&](const FieldSet* set) { return set == nullptr ? set : set->child(element); };
    return {.reset = at(reset), .ownership = at(ownership), .paths = at(paths)};
  }
  bool tree() const {
    return (reset != nullptr && reset->here()) || (ownership != nullptr && ownership->here());
  }
  bool path() const { return paths != nullptr && paths->here(); }
};

// Elements come in their order.
void attach(Owned& parent, std::string element, Owned child, const Unowned& unowned) {
  if (unowned.tree()) return;
  const bool here = child.here && !unowned.path();
  if (!here && child.below.empty()) return;
  if (here && !child.below.empty())
    child.below.emplace_hint(child.below.begin(), ".", Json::object_t());
  parent.below.emplace_hint(parent.below.end(), std::move(element), std::move(child.below));
}

Owned added(const Json& value, const MergeShape* shape, const Unowned& unowned);

void add_members(Owned& owned, const Json& object, const MergeShape* shape,
                 const Unowned& unowned) {
  for (const auto& [name, value] : object.get_ref<const Json::object_t&>()) {
    std::string element = member_element(name);
    const Unowned below = unowned.child(element);
    if (below.tree()) continue;
    attach(owned, std::move(element), added(value, member_shape(shape, name), below), below);
  }
}

// False: the items cannot be told apart, and the list is one value.
bool add_items(Owned& owned, const Json& list, const MergeShape& shape, const Unowned& unowned) {
  auto elements = item_elements(shape, list);
  if (!elements) return false;
  std::map<std::string, const Json*> items;  // null: twice there, and owned only as a whole
  for (std::size_t i = 0; i < elements->size(); ++i) {
    const auto [at, fresh] = items.try_emplace(std::move((*elements)[i]), &list[i]);
    if (!fresh) at->second = nullptr;
  }
  for (const auto& [element, item] : items) {
    const Unowned below = unowned.child(element);
    Owned child = item == nullptr ? Owned{.here = true} : added(*item, shape.item.get(), below);
    attach(owned, element, std::move(child), below);
  }
  return true;
}

// Everything below a value that an unset object does not have.
void add_children(Owned& owned, const Json& value, const MergeShape* shape,
                  const Unowned& unowned) {
  const Form form = form_of(shape, value);
  if (form == Form::kMembers)
    add_members(owned, value, shape, unowned);
  else if (form != Form::kLeaf)
    (void)add_items(owned, value, *shape, unowned);
}

Owned added(const Json& value, const MergeShape* shape, const Unowned& unowned) {
  Owned owned{.here = true};
  add_children(owned, value, shape, unowned);
  return owned;
}

Owned compared_to_unset(const Json& unset, const Json& value, const MergeShape* shape,
                        const Unowned& unowned);

void compare_members(Owned& owned, const Json& unset, const Json& value, const MergeShape* shape,
                     const Unowned& unowned) {
  for (const auto& [name, one] : value.get_ref<const Json::object_t&>()) {
    std::string element = member_element(name);
    const Unowned below = unowned.child(element);
    if (below.tree()) continue;
    const auto before = unset.find(name);
    const MergeShape* const inner = member_shape(shape, name);
    attach(owned, std::move(element),
           before == unset.end() ? added(one, inner, below)
                                 : compared_to_unset(*before, one, inner, below),
           below);
  }
}

// No kind has a list with items before anybody set one; what compared() says is right for that too.
Owned compared_lists(const Json& unset, const Json& value, const MergeShape* shape,
                     const Unowned& unowned) {
  FieldComparison difference = compared(&unset, &value, shape);
  for (const FieldSet* trees : {unowned.reset, unowned.ownership})
    if (trees != nullptr) difference.ignore(*trees);
  difference.modified.add(std::move(difference.added));
  if (unowned.paths != nullptr) difference.modified.remove(*unowned.paths);
  Json below = difference.modified.to_fields_v1();
  return {.here = difference.modified.here(), .below = std::move(below.get_ref<Json::object_t&>())};
}

// Of a place where an unset object has a value too; in the words of compared().
Owned compared_to_unset(const Json& unset, const Json& value, const MergeShape* shape,
                        const Unowned& unowned) {
  Owned owned;
  if (const Form form = form_of(shape, value);
      unset.is_null() && (form == Form::kSet || form == Form::kKeyed)) {
    owned.here = !add_items(owned, value, *shape, unowned) || value.empty();
    return owned;
  }
  Form left = usable_form(shape, unset);
  Form right = usable_form(shape, value);
  if (unset.is_null()) left = right;
  if (value.is_null()) right = left;
  const bool left_full = left != Form::kLeaf && !unset.empty();
  const bool right_full = right != Form::kLeaf && !value.empty();
  if (left != right || (!left_full && !right_full)) owned.here = unset != value;
  if (!right_full) return owned;
  if (left != right || !left_full)
    add_children(owned, value, shape, unowned);
  else if (left == Form::kMembers)
    compare_members(owned, unset, value, shape, unowned);
  else
    return compared_lists(unset, value, shape, unowned);
  return owned;
}

}  // namespace
// NOLINTEND(misc-no-recursion)

Json created_fields(const FieldRules& rules, const Json& created) {
  static const Json nothing = Json::object();
  const Json& unset = rules.unset != nullptr ? *rules.unset : nothing;
  const Unowned unowned{.reset = &rules.reset_fields,
                        .ownership = &managed_fields_tree(),
                        .paths = &unowned_fields()};
  return compared_to_unset(unset, created, rules.shape, unowned).below;
}

}  // namespace amdahl::local
