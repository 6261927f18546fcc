#include "local/apiserver/core/garbage.hpp"

#include <algorithm>

#include "local/apiserver/core/deletion.hpp"
#include "local/apiserver/core/metadata.hpp"
#include "local/apiserver/core/write.hpp"

namespace amdahl::local {
namespace {

constexpr std::size_t kDependentsPerStepMax = 500;

struct Item {
  ObjectPlace place = {};
  ObjectPtr object = {};
};

Item find_item(const ObjectTable& table, const std::string& uid) {
  const auto place = table.owners().find(uid);
  if (!place) return {};
  ObjectPtr object = table.get(place->resource, place->key);
  if (!object || object->uid != uid) return {};
  return {.place = *place, .object = std::move(object)};
}

GcAction action(GcStep step, const Item& item) {
  return {.step = step, .place = item.place, .uid = item.object->uid};
}

// The dependents lose this owner, then the owner may go.
GcPlan orphan(const ObjectTable& table, const Item& owner) {
  GcPlan plan;
  for (const std::string& uid : table.owners().dependents(owner.object->uid)) {
    if (plan.actions.size() == kDependentsPerStepMax) {
      plan.again = true;
      return plan;
    }
    const Item dependent = find_item(table, uid);
    if (!dependent.object) continue;
    GcAction one = action(GcStep::kDropOwners, dependent);
    one.owners = {owner.object->uid};
    plan.actions.push_back(std::move(one));
  }
  GcAction last = action(GcStep::kDropFinalizer, owner);
  last.finalizer = kFinalizerOrphan;
  plan.actions.push_back(std::move(last));
  return plan;
}

bool blocks(const StoredObject& dependent, const std::string& owner) {
  return std::ranges::any_of(dependent.owners,
                             [&](const OwnerRef& ref) { return ref.uid == owner && ref.blocks; });
}

// The owner goes once no dependent blocks it; they were queued when it was marked.
GcPlan foreground(const ObjectTable& table, const Item& owner) {
  for (const std::string& uid : table.owners().dependents(owner.object->uid)) {
    const Item dependent = find_item(table, uid);
    if (dependent.object && blocks(*dependent.object, owner.object->uid)) return {};
  }
  GcAction last = action(GcStep::kDropFinalizer, owner);
  last.finalizer = kFinalizerForeground;
  return {.actions = {std::move(last)}};
}

enum class OwnerIs : std::uint8_t { kSolid, kAbsent, kWaiting, kUnknowable };

OwnerIs classify(const ObjectTable& table, const KindRules& rules, const StoredObject& object,
                 const OwnerRef& ref) {
  const ResourceInfo* info = rules.find_kind(ref.api_version, ref.kind);
  // A kind nobody serves, or a place that cannot be named: nobody can tell, so nothing is deleted.
  if (info == nullptr || (info->namespaced && object.ns().empty())) return OwnerIs::kUnknowable;
  const Item owner = find_item(table, ref.uid);
  if (!owner.object || owner.object->name() != ref.name) return OwnerIs::kAbsent;
  if (table.storage(owner.place.resource) != info->storage) return OwnerIs::kAbsent;
  if (info->namespaced && owner.object->ns() != object.ns()) return OwnerIs::kAbsent;
  return owner.object->deleting && owner.object->foreground ? OwnerIs::kWaiting : OwnerIs::kSolid;
}

bool dependent_waits(const ObjectTable& table, const std::string& uid) {
  return std::ranges::any_of(table.owners().dependents(uid), [&](const std::string& dependent) {
    const Item item = find_item(table, dependent);
    return item.object && item.object->deleting && item.object->foreground;
  });
}

GcPlan check_owners(const ObjectTable& table, const KindRules& rules, const Item& item) {
  std::vector<std::string> leaving;
  bool solid = false;
  bool waiting = false;
  for (const OwnerRef& ref : item.object->owners) {
    const OwnerIs is = classify(table, rules, *item.object, ref);
    if (is == OwnerIs::kUnknowable) return {};
    solid = solid || is == OwnerIs::kSolid;
    waiting = waiting || is == OwnerIs::kWaiting;
    if (is != OwnerIs::kSolid) leaving.push_back(ref.uid);
  }
  if (leaving.empty()) return {};
  GcPlan plan;
  if (solid) {
    plan.actions.push_back(action(GcStep::kDropOwners, item));
    plan.actions.back().owners = std::move(leaving);
    return plan;
  }
  const bool parent = !table.owners().dependents(item.object->uid).empty();
  // Owners in a circle would wait for each other.
  if (waiting && parent && dependent_waits(table, item.object->uid))
    plan.actions.push_back(action(GcStep::kUnblockOwners, item));
  plan.actions.push_back(action(GcStep::kDelete, item));
  std::string& policy = plan.actions.back().policy;
  policy = "Background";
  if (item.object->orphan) policy = "Orphan";
  if (item.object->foreground || (waiting && parent)) policy = "Foreground";
  return plan;
}

void drop_owners(Json& meta, const std::vector<std::string>& uids) {
  Json& refs = meta["ownerReferences"];
  Json kept = Json::array();
  for (Json& ref : refs)
    if (std::ranges::find(uids, text_at(ref, "uid")) == uids.end()) kept.push_back(std::move(ref));
  if (kept.empty())
    meta.erase("ownerReferences");
  else
    refs = std::move(kept);
}

void drop_finalizer(ServerState& state, const ResourceInfo& info, const ObjectPtr& object,
                    const std::string& finalizer) {
  Json changed = parsed(*object);
  Json& meta = metadata_of(changed);
  if (!remove_finalizer(meta, finalizer)) return;
  const bool graceless = number_at(meta, "deletionGracePeriodSeconds").value_or(0) == 0;
  const bool namespaces = info.plural == "namespaces" && info.group.empty();
  if (finalizers_of(meta).empty() && object->deleting && graceless && !namespaces)
    remove_object(state, info, *object);
  else
    put_object(state, info, std::move(changed));
}

void perform(ServerState& state, const GcAction& action) {
  const ResourceInfo* info = state.rules.find_storage(state.table.storage(action.place.resource));
  const ObjectPtr object = state.table.get(action.place.resource, action.place.key);
  if (info == nullptr || !object || object->uid != action.uid) return;
  if (action.step == GcStep::kDelete) {
    // A refusal means that somebody changed the object, which has queued it again.
    (void)delete_object(state, *info, object, {.propagation = action.policy, .uid = action.uid});
  } else if (action.step == GcStep::kDropFinalizer) {
    drop_finalizer(state, *info, object, action.finalizer);
  } else {
    Json changed = parsed(*object);
    Json& meta = metadata_of(changed);
    if (!meta.contains("ownerReferences")) return;
    if (action.step == GcStep::kDropOwners)
      drop_owners(meta, action.owners);
    else
      for (Json& ref : meta["ownerReferences"]) ref["blockOwnerDeletion"] = false;
    put_object(state, *info, std::move(changed));
  }
}

// Deletes what has this prefix; true when nothing with it is left.
bool empty_out(ServerState& state, ResourceId resource, std::string_view prefix,
               std::size_t& budget) {
  const ResourceInfo* info = state.rules.find_storage(state.table.storage(resource));
  if (info == nullptr) return true;
  const Page page = state.table.page(
      resource, {.prefix = prefix, .version = state.table.version(), .limit = budget + 1},
      [](const StoredObject&) { return true; });
  for (const ObjectPtr& object : page.items) {
    if (object->deleting) continue;
    if (budget == 0) return false;
    --budget;
    (void)delete_object(state, *info, object, {.propagation = "Background", .uid = object->uid});
  }
  const auto& left = state.table.objects(resource);
  const auto first = left.lower_bound(prefix);
  return first == left.end() || !first->first.starts_with(prefix);
}

void finish_namespace(ServerState& state, const ResourceInfo& info, const ObjectPtr& object) {
  Json changed = parsed(*object);
  std::size_t others = 0;
  if (const auto spec = changed.find("spec"); spec != changed.end() && spec->is_object()) {
    Json kept = Json::array();
    for (const Json& one : spec->value("finalizers", Json::array()))
      if (one != "kubernetes") kept.push_back(one);
    others = kept.size();
    if (kept.empty())
      spec->erase("finalizers");
    else
      (*spec)["finalizers"] = std::move(kept);
  }
  if (others == 0 && finalizers_of(metadata_of(changed)).empty())
    remove_object(state, info, *object);
  else if (changed != parsed(*object))
    put_object(state, info, std::move(changed));
}

void sweep_namespaces(ServerState& state, std::size_t& budget) {
  const ResourceInfo* info = state.rules.find_storage("namespaces");
  if (info == nullptr) return;
  const ResourceId namespaces = state.table.resource("namespaces");
  std::vector<ObjectPtr> ending;
  for (const auto& [name, object] : state.table.objects(namespaces))
    if (object->deleting) ending.push_back(object);
  for (const ObjectPtr& one : ending) {
    bool empty = true;
    for (ResourceId id = 0; id < state.table.resources(); ++id)
      if (id != namespaces) empty = empty_out(state, id, one->key + "/", budget) && empty;
    if (empty && budget > 0) finish_namespace(state, *info, one);
  }
}

// A CRD that goes takes its objects with it.
void sweep_definitions(ServerState& state, std::size_t& budget) {
  const ResourceInfo* info =
      state.rules.find_storage("customresourcedefinitions.apiextensions.k8s.io");
  if (info == nullptr) return;
  std::vector<ObjectPtr> ending;
  for (const auto& [name, object] : state.table.objects(state.table.resource(info->storage)))
    if (object->deleting && object->finalizers) ending.push_back(object);
  for (const ObjectPtr& one : ending)
    if (empty_out(state, state.table.resource(one->key), "", budget) && budget > 0)
      drop_finalizer(state, *info, one, std::string(kFinalizerCrdCleanup));
}

void sweep_expired(ServerState& state, std::size_t& budget) {
  while (budget > 0 && !state.expiring.empty() && state.expiring.begin()->first <= state.now) {
    const Expiring due = state.expiring.begin()->second;
    state.expiring.erase(state.expiring.begin());
    const ResourceInfo* info = state.rules.find_storage(state.table.storage(due.place.resource));
    const ObjectPtr object = state.table.get(due.place.resource, due.place.key);
    if (info == nullptr || !object || object->version != due.version) continue;
    --budget;
    remove_object(state, *info, *object);
  }
}

}  // namespace

GcPlan collect(const ObjectTable& table, const KindRules& rules, const std::string& uid) {
  const Item item = find_item(table, uid);
  if (!item.object) return {};
  if (item.object->deleting && item.object->orphan) return orphan(table, item);
  if (item.object->deleting && item.object->foreground) return foreground(table, item);
  if (item.object->deleting || item.object->owners.empty()) return {};
  return check_owners(table, rules, item);
}

bool sweep(ServerState& state) {
  std::size_t budget = state.options.garbage_per_tick_max;
  while (budget > 0) {
    const auto uid = state.table.owners().take_touched();
    if (!uid) break;
    const GcPlan plan = collect(state.table, state.rules, *uid);
    for (const GcAction& one : plan.actions) perform(state, one);
    if (plan.again) state.table.owners().touch(*uid);
    budget -= std::min(budget, std::max<std::size_t>(plan.actions.size(), 1));
  }
  sweep_expired(state, budget);
  if (budget > 0) sweep_namespaces(state, budget);
  if (budget > 0) sweep_definitions(state, budget);
  return budget == 0 || !state.table.owners().idle();
}

}  // namespace amdahl::local
