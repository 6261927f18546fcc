#include "local/apiserver/patch/field_walk.hpp"

#include <unordered_map>

#include "local/apiserver/patch/path_element.hpp"

namespace amdahl::local {

Form usable_form(const MergeShape* shape, const Json& value) {
  const Form form = form_of(shape, value);
  const bool list = form == Form::kSet || form == Form::kKeyed;
  return list && !item_elements(*shape, value) ? Form::kLeaf : form;
}

// NOLINTBEGIN(misc-no-recursion): values are at most kDepthMax deep.
namespace {

FieldSet node_of(const Json& value, const MergeShape* shape);

FieldSet members_of(const Json& object, const MergeShape* shape) {
  FieldSet set;
  for (const auto& [name, value] : object.items()) {
    FieldSet child = node_of(value, member_shape(shape, name));
    const bool bare = value.is_null() || (value.is_object() && value.empty());
    if (bare || !is_named(shape, name)) child.set_here();
    set.attach(member_element(name), std::move(child));
  }
  return set;
}

FieldSet items_of(const Json& list, const MergeShape& shape) {
  const auto elements = item_elements(shape, list);
  std::unordered_map<std::string_view, int> counts;
  for (const std::string& element : *elements) ++counts[element];
  FieldSet set;
  for (std::size_t i = 0; i < elements->size(); ++i) {
    FieldSet child;
    // Items that are twice there are owned only as a whole.
    if (counts[(*elements)[i]] == 1) child = node_of(list[i], shape.item.get());
    child.set_here();
    set.attach((*elements)[i], std::move(child));
  }
  return set;
}

FieldSet node_of(const Json& value, const MergeShape* shape) {
  switch (usable_form(shape, value)) {
    case Form::kMembers:
      return members_of(value, shape);
    case Form::kSet:
    case Form::kKeyed:
      return items_of(value, *shape);
    case Form::kLeaf:
      break;
  }
  FieldSet leaf;
  leaf.set_here();
  return leaf;
}

void attach(FieldComparison& all, const std::string& element, FieldComparison part) {
  if (!part.removed.empty()) all.removed.attach(element, std::move(part.removed));
  if (!part.modified.empty()) all.modified.attach(element, std::move(part.modified));
  if (!part.added.empty()) all.added.attach(element, std::move(part.added));
}

// One side may be null: all members of the other are then new or gone.
void compare_members(FieldComparison& out, const Json* before, const Json* after,
                     const MergeShape* shape) {
  static const Json none = Json::object();
  const Json& left = before == nullptr ? none : *before;
  const Json& right = after == nullptr ? none : *after;
  for (const auto& [name, value] : left.items()) {
    const auto other = right.find(name);
    attach(out, member_element(name),
           compared(&value, other == right.end() ? nullptr : &*other, member_shape(shape, name)));
  }
  for (const auto& [name, value] : right.items())
    if (!left.contains(name))
      attach(out, member_element(name), compared(nullptr, &value, member_shape(shape, name)));
}

struct ItemPair {
  std::vector<const Json*> before = {};
  std::vector<const Json*> after = {};
};

bool equal_items(const ItemPair& pair) {
  return std::ranges::equal(pair.before, pair.after,
                            [](const Json* one, const Json* two) { return *one == *two; });
}

FieldComparison compared_items(const ItemPair& pair, const MergeShape* shape) {
  const auto first = [](const std::vector<const Json*>& items) {
    return items.empty() ? nullptr : items.front();
  };
  FieldComparison out;
  if (pair.before.size() <= 1 && pair.after.size() <= 1)
    return compared(first(pair.before), first(pair.after), shape);
  if (pair.before.size() > 1 && pair.after.size() > 1) {
    if (!equal_items(pair)) out.modified.set_here();
  } else if (pair.before.size() > 1) {
    if (!pair.after.empty()) out = compared(nullptr, pair.after.front(), shape);
    out.removed.set_here();
  } else {
    if (!pair.before.empty()) out = compared(pair.before.front(), nullptr, shape);
    out.added.set_here();
  }
  return out;
}

void compare_items(FieldComparison& out, const Json* before, const Json* after,
                   const MergeShape& shape) {
  std::map<std::string, ItemPair> pairs;
  const auto gather = [&](const Json* list, std::vector<const Json*> ItemPair::* side) {
    if (list == nullptr) return;
    auto elements = item_elements(shape, *list);
    for (std::size_t i = 0; i < elements->size(); ++i)
      (pairs[std::move((*elements)[i])].*side).push_back(&(*list)[i]);
  };
  gather(before, &ItemPair::before);
  gather(after, &ItemPair::after);
  for (const auto& [element, pair] : pairs)
    attach(out, element, compared_items(pair, shape.item.get()));
}

void compare_children(FieldComparison& out, Form form, const Json* before, const Json* after,
                      const MergeShape* shape) {
  if (form == Form::kMembers)
    compare_members(out, before, after, shape);
  else if (form != Form::kLeaf)
    compare_items(out, before, after, *shape);
}

}  // namespace

void FieldComparison::ignore(const FieldSet& trees) {
  removed.remove_trees(trees);
  modified.remove_trees(trees);
  added.remove_trees(trees);
}

FieldSet fields_of(const Json& value, const MergeShape* shape) {
  return form_of(shape, value) == Form::kMembers ? members_of(value, shape) : FieldSet();
}

FieldComparison compared(const Json* before, const Json* after, const MergeShape* shape) {
  // Nearly all of two objects is the same, and telling so costs no sets and no path elements.
  if (before != nullptr && after != nullptr && *before == *after) return {};
  Form left = before == nullptr ? Form::kLeaf : usable_form(shape, *before);
  Form right = after == nullptr ? Form::kLeaf : usable_form(shape, *after);
  // Null is an object or a list with nothing in it where the other side has one.
  if (before != nullptr && before->is_null()) left = right;
  if (after != nullptr && after->is_null()) right = left;
  const bool left_full = left != Form::kLeaf && !before->empty();
  const bool right_full = right != Form::kLeaf && !after->empty();
  FieldComparison out;
  if (before == nullptr) {
    out.added.set_here();
  } else if (after == nullptr) {
    out.removed.set_here();
  } else if (left != right || (!left_full && !right_full)) {
    // Leaves, or another kind of value than before; children, if any, follow below.
    if (*before != *after) out.modified.set_here();
  }
  if (left == right && left_full && right_full) {
    compare_children(out, left, before, after, shape);
    return out;
  }
  if (left_full) compare_children(out, left, before, nullptr, shape);
  if (right_full) compare_children(out, right, nullptr, after, shape);
  return out;
}

FieldSet with_named_parents(const FieldSet& set, const MergeShape* shape) {
  FieldSet result;
  if (set.here()) result.set_here();
  for (const auto& [element, child] : set.below()) {
    const auto name = member_name(element);
    FieldSet inner =
        with_named_parents(child, name ? member_shape(shape, *name) : item_shape(shape));
    if (name && !child.below().empty() && is_named(shape, *name)) inner.set_here();
    result.attach(element, std::move(inner));
  }
  return result;
}

// NOLINTEND(misc-no-recursion)

}  // namespace amdahl::local
