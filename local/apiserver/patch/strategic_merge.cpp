#include "local/apiserver/patch/strategic_merge.hpp"

#include <optional>
#include <set>
#include <string_view>

#include "local/apiserver/patch/shape_walk.hpp"
#include "local/apiserver/patch/strategic_list.hpp"

namespace amdahl::local {
namespace {

// NOLINTBEGIN(misc-no-recursion): document and patch were checked against kDepthMax.

constexpr std::string_view kDeleteFromList = "$deleteFromPrimitiveList";
constexpr std::string_view kSetElementOrder = "$setElementOrder";
constexpr const char* kRetainKeys = "$retainKeys";
constexpr const char* kBadOrder = "invalid patch format of setElementOrder list";
constexpr const char* kBadRetain = "invalid patch format of retainKeys";

Result<Json> merge_members(Json target, const Json& patch, const MergeShape* shape);

bool is_directive(std::string_view name) {
  return name == kDirective || name == kRetainKeys || name.starts_with(kDeleteFromList) ||
         name.starts_with(kSetElementOrder);
}

// A value of the patch that meets nothing to merge with: without directives and nulls. Nothing
// when the value itself is a directive.
std::optional<Json> plain(const Json& value) {
  if (value.is_array()) {
    Json list = Json::array();
    for (const Json& item : value)
      if (auto kept = plain(item)) list.push_back(std::move(*kept));
    return list;
  }
  if (!value.is_object()) return value;
  if (value.contains(kDirective)) return std::nullopt;
  Json object = Json::object();
  for (const auto& [name, member] : value.items()) {
    if (member.is_null() || is_directive(name)) continue;
    if (auto kept = plain(member)) object[name] = std::move(*kept);
  }
  return object;
}

// "$setElementOrder/containers" -> "containers".
Result<std::string> directed_list(std::string_view name, std::string_view prefix,
                                  const char* complaint) {
  name.remove_prefix(prefix.size());
  if (!name.starts_with('/')) return fail(Errc::kCorrupt, "{}", complaint);
  return std::string(name.substr(1));
}

// Items that carry `$patch` act on the whole list; what remains is merged item by item.
struct SpecialItems {
  bool replace = false;
  std::set<std::string> deleted = {};
  Json rest = Json::array();
};

Result<SpecialItems> split_special(const Json& patch, const ItemIdentity& identity) {
  SpecialItems special;
  for (const Json& item : patch) {
    const auto directive = item.find(kDirective);
    if (directive == item.end()) {
      special.rest.push_back(item);
    } else if (*directive == "replace") {
      special.replace = true;
    } else if (*directive == "delete") {
      TRY(std::string key, identity.of(item));
      special.deleted.insert(std::move(key));
    } else if (*directive == "merge") {
      return fail(Errc::kTerminal, "merging lists cannot yet be specified in the patch");
    } else {
      return fail(Errc::kTerminal, "unknown patch type: {} in map: {}", go_text(*directive),
                  go_text(item));
    }
  }
  return special;
}

Result<Json> without(Json list, const std::set<std::string>& gone, const ItemIdentity& identity) {
  if (gone.empty()) return list;
  Json kept = Json::array();
  for (Json& item : list) {
    TRY(const std::string key, identity.of(item));
    if (!gone.contains(key)) kept.push_back(std::move(item));
  }
  return kept;
}

Result<Json> merge_objects(Json list, const Json& patch, const MergeShape& shape) {
  const ItemIdentity identity(shape.patch_merge_key);
  if (shape.patch_merge_key.empty())
    return fail(Errc::kTerminal, "cannot merge lists without merge key");
  TRY(const SpecialItems special, split_special(patch, identity));
  if (special.replace) return plain(special.rest).value_or(Json::array());
  TRY(list, without(std::move(list), special.deleted, identity));
  TRY(const ItemOrder server, order_of(list, identity));
  TRY(const ItemOrder wanted, order_of(special.rest, identity));
  ItemOrder places = server;
  for (const Json& item : special.rest) {
    TRY(std::string key, identity.of(item));
    const auto [place, added] = places.emplace(std::move(key), list.size());
    if (added) {
      list.push_back(plain(item).value_or(Json::object()));
      continue;
    }
    Json& met = list[place->second];
    TRY(met, merge_members(std::move(met), item, shape.item.get()));
  }
  return reordered(std::move(list), identity, wanted, server);
}

Result<Json> merge_scalars(Json list, const Json& patch) {
  const ItemIdentity identity{""};
  TRY(const ItemOrder server, order_of(list, identity));
  TRY(const ItemOrder wanted, order_of(patch, identity));
  Json all = Json::array();
  std::set<std::string> seen;
  for (const Json* source : {&std::as_const(list), &patch}) {
    for (const Json& item : *source) {
      TRY(std::string key, identity.of(item));
      if (seen.insert(std::move(key)).second) all.push_back(item);
    }
  }
  return reordered(std::move(all), identity, wanted, server);
}

Result<Json> merge_list(Json list, const Json& patch, const MergeShape* shape) {
  const bool merges = shape != nullptr && (shape->patch_merge || !shape->patch_merge_key.empty());
  if (!merges) return plain(patch).value_or(Json::array());
  TRY(const ListContent content, content_of(list, patch));
  if (content.empty) return list;
  if (content.scalars) return merge_scalars(std::move(list), patch);
  return merge_objects(std::move(list), patch, *shape);
}

Result<void> retain_keys(Json& target, const Json& patch) {
  const auto directive = patch.find(kRetainKeys);
  if (directive == patch.end()) return {};
  if (!directive->is_array()) return fail(Errc::kCorrupt, "{}", kBadRetain);
  std::set<std::string> kept;
  for (const Json& name : *directive) {
    if (!name.is_string()) return fail(Errc::kCorrupt, "{}", kBadRetain);
    kept.insert(name.get<std::string>());
  }
  for (const auto& [name, value] : patch.items())
    if (!value.is_null() && !is_directive(name) && !kept.contains(name))
      return fail(Errc::kCorrupt, "{}", kBadRetain);
  for (auto member = target.begin(); member != target.end();)
    member = kept.contains(member.key()) ? std::next(member) : target.erase(member);
  return {};
}

Result<void> delete_scalars(Json& target, const Json& patch) {
  for (const auto& [name, gone] : patch.items()) {
    if (!name.starts_with(kDeleteFromList)) continue;
    constexpr const char* kComplaint = "invalid patch format of primitive list";
    TRY(const std::string list, directed_list(name, kDeleteFromList, kComplaint));
    if (!gone.is_array()) return fail(Errc::kCorrupt, "{}", kComplaint);
    const auto found = target.find(list);
    if (found == target.end() || !found->is_array()) continue;
    const ItemIdentity identity{""};
    std::set<std::string> keys;
    for (const Json& item : gone) {
      TRY(std::string key, identity.of(item));
      keys.insert(std::move(key));
    }
    TRY(*found, without(std::move(*found), keys, identity));
  }
  return {};
}

// What the patch adds or changes must stand in the wanted order, in that order.
Result<void> check_order(const Json& patch, const Json& wanted, const ItemIdentity& identity) {
  if (patch.empty() || wanted.empty()) return {};
  std::size_t next = 0;
  for (const Json& item : patch) {
    if (item.is_object() && item.contains(kDirective)) continue;
    TRY(const std::string key, identity.of(item));
    for (bool found = false; !found; ++next) {
      if (next == wanted.size())
        return fail(Errc::kTerminal,
                    "The order in patch list:\n{}\n doesn't match $setElementOrder list:\n{}\n",
                    go_text(patch), go_text(wanted));
      TRY(const std::string other, identity.of(wanted[next]));
      found = other == key;
    }
  }
  return {};
}

// Merges the list and then gives it the order the directive asks for.
Result<void> merge_ordered(Json& target, const Json& patch, const std::string& name,
                           const MergeShape* shape) {
  TRY(const std::string list, directed_list(name, kSetElementOrder, kBadOrder));
  const Json& wanted = patch.at(name);
  const auto part = patch.find(list);
  const bool patched = part != patch.end() && !part->is_null();
  const auto live = target.find(list);
  const bool present = live != target.end() && !live->is_null();
  if (!patched && !present) return {};
  if (!wanted.is_array() || (patched && !part->is_array()) || (present && !live->is_array()))
    return fail(Errc::kCorrupt, "{}", kBadOrder);
  const MergeShape* const list_shape = member_shape(shape, list);
  const ItemIdentity identity(list_shape == nullptr ? "" : list_shape->patch_merge_key);
  const Json none = Json::array();
  TRY(check_order(patched ? *part : none, wanted, identity));
  Json merged = present ? *live : Json::array();
  TRY(const ItemOrder server, order_of(merged, identity));
  TRY(const ItemOrder order, order_of(wanted, identity));
  if (patched && present) {
    TRY(merged, merge_list(std::move(merged), *part, list_shape));
  } else if (patched) {
    merged = plain(*part).value_or(none);
  }
  TRY(target[list], reordered(std::move(merged), identity, order, server));
  return {};
}

Result<void> merge_member(Json& target, const std::string& name, const Json& value,
                          const MergeShape* shape) {
  const auto live = target.find(name);
  if (value.is_null()) {
    if (live != target.end()) target.erase(live);
    return {};
  }
  if (live != target.end() && live->is_object() && value.is_object()) {
    TRY(*live, merge_members(std::move(*live), value, member_shape(shape, name)));
    return {};
  }
  if (live != target.end() && live->is_array() && value.is_array()) {
    TRY(*live, merge_list(std::move(*live), value, member_shape(shape, name)));
    return {};
  }
  if (auto kept = plain(value))
    target[name] = std::move(*kept);
  else
    target.erase(name);
  return {};
}

Result<Json> replaced_object(const Json& directive, const Json& patch) {
  if (directive == "delete") return Json::object();
  if (directive != "replace")
    return fail(Errc::kTerminal, "unknown patch type: {} in map: {}", go_text(directive),
                go_text(patch));
  Json rest = patch;
  rest.erase(kDirective);
  return plain(rest).value_or(Json::object());
}

Result<Json> merge_members(Json target, const Json& patch, const MergeShape* shape) {
  const auto directive = patch.find(kDirective);
  if (directive != patch.end()) return replaced_object(*directive, patch);
  TRY(retain_keys(target, patch));
  TRY(delete_scalars(target, patch));
  std::set<std::string> done;
  for (const auto& [name, value] : patch.items()) {
    if (!name.starts_with(kSetElementOrder)) continue;
    TRY(merge_ordered(target, patch, name, shape));
    const auto part = patch.find(name.substr(kSetElementOrder.size() + 1));
    if (part != patch.end() && !part->is_null()) done.insert(part.key());
  }
  for (const auto& [name, value] : patch.items()) {
    if (is_directive(name) || done.contains(name)) continue;
    TRY(merge_member(target, name, value, shape));
  }
  return target;
}

// NOLINTEND(misc-no-recursion)

}  // namespace

Result<Json> apply_strategic_merge(const Json& document, const Json& patch,
                                   const MergeShape* shape) {
  if (!patch.is_object()) return fail(Errc::kCorrupt, "invalid JSON document");
  if (!document.is_object()) return fail(Errc::kInvalid, "the object is not a JSON object");
  TRY(check_depth(document, "the object"));
  TRY(check_depth(patch, "the patch"));
  return merge_members(document, patch, shape);
}

}  // namespace amdahl::local
