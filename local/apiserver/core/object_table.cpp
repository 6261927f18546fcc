#include "local/apiserver/core/object_table.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace amdahl::local {
namespace {

bool past_prefix(std::string_view key, std::string_view prefix) {
  return !key.starts_with(prefix);
}

}  // namespace

ResourceId ObjectTable::resource(std::string_view storage) {
  const auto [at, made] =
      ids_.try_emplace(std::string(storage), static_cast<ResourceId>(storages_.size()));
  if (made) {
    storages_.emplace_back(storage);
    objects_.emplace_back();
  }
  return at->second;
}

ObjectPtr ObjectTable::get(ResourceId id, std::string_view key) const {
  const Objects& all = objects_[id];
  const auto found = all.find(key);
  return found == all.end() ? nullptr : found->second;
}

void ObjectTable::put(ResourceId id, const ObjectPtr& object) {
  AMDAHL_CHECK(object->version == version_ + 1);
  ObjectPtr& slot = objects_[id][object->key];
  ObjectPtr before = std::exchange(slot, object);
  version_ = object->version;
  owners_.written(id, *object, before.get());
  mutations_.push_back(
      {.version = version_, .storage = storages_[id], .key = object->key, .object = object});
  history_.add(id, {.version = version_, .now = object, .before = std::move(before)});
}

void ObjectTable::remove(ResourceId id, const ObjectPtr& last) {
  AMDAHL_CHECK(last->version == version_ + 1);
  const auto found = objects_[id].find(last->key);
  AMDAHL_CHECK(found != objects_[id].end());
  ObjectPtr before = std::move(found->second);
  objects_[id].erase(found);
  version_ = last->version;
  owners_.removed(*before);
  mutations_.push_back({.version = version_, .storage = storages_[id], .key = last->key});
  history_.add(id,
               {.version = version_, .now = last, .before = std::move(before), .removed = true});
}

// For every key that changed after the version: what it was then, null for nothing.
ObjectTable::Overlay ObjectTable::changed_since(ResourceId id, const PageQuery& query) const {
  Overlay overlay;
  if (query.version >= version_) return overlay;
  const std::deque<Event>& events = history_.events(id);
  for (std::size_t at = history_.first_after(id, query.version); at < events.size(); ++at) {
    const std::string_view key = events[at].now->key;
    if (key < query.start || !key.starts_with(query.prefix)) continue;
    overlay.try_emplace(key, events[at].before.get());
  }
  return overlay;
}

Page ObjectTable::page(ResourceId id, const PageQuery& query, Filter matches) const {
  AMDAHL_CHECK(readable(id, query.version));
  const Objects& all = objects_[id];
  const Overlay overlay = changed_since(id, query);
  auto current = all.lower_bound(std::max(query.start, query.prefix));
  auto then = overlay.begin();
  Page page;
  std::string_view last;
  while (true) {
    if (current != all.end() && past_prefix(current->first, query.prefix)) current = all.end();
    if (current == all.end() && then == overlay.end()) return page;
    const bool from_then =
        then != overlay.end() && (current == all.end() || then->first <= current->first);
    const StoredObject* object = from_then ? then->second : current->second.get();
    const std::string_view key = from_then ? then->first : std::string_view(current->first);
    if (from_then) {
      if (current != all.end() && current->first == then->first) ++current;
      ++then;
    } else {
      ++current;
    }
    if (object == nullptr) continue;
    if (query.limit != 0 && page.items.size() == query.limit) {
      if (page.remaining++ == 0) page.next = std::string(last) + '\0';
      if (!query.count_rest) return page;
      continue;
    }
    last = key;
    if (!matches(*object)) continue;
    page.items.push_back(object->shared_from_this());
  }
}

std::vector<Mutation> ObjectTable::take_mutations() {
  return std::exchange(mutations_, {});
}

void ObjectTable::committed(std::uint64_t version) {
  AMDAHL_CHECK(version <= version_);
  durable_ = std::max(durable_, version);
}

void ObjectTable::restore(ResourceId id, const ObjectPtr& object) {
  objects_[id][object->key] = object;
  owners_.written(id, *object, nullptr);
}

void ObjectTable::restored(std::uint64_t last_version) {
  version_ = last_version;
  durable_ = last_version;
  history_.reset(last_version);
}

}  // namespace amdahl::local
