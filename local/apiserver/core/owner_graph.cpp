#include "local/apiserver/core/owner_graph.hpp"

namespace amdahl::local {

void OwnerGraph::written(ResourceId resource, const StoredObject& now, const StoredObject* before) {
  if (before == nullptr) places_[now.uid] = {.resource = resource, .key = now.key};
  if (before != nullptr) unlink(*before);
  link(now);
  // An owner may have waited for what this reference was.
  if (before != nullptr && before->owners != now.owners)
    for (const OwnerRef& owner : before->owners)
      if (places_.contains(owner.uid)) touch(owner.uid);
  const bool marked = now.deleting && (before == nullptr || !before->deleting);
  const bool waits = now.deleting && (now.foreground || now.orphan);
  if (!now.owners.empty() || waits) touch(now.uid);
  // The dependents of an owner that starts to go are looked at once it is known how.
  if (marked)
    for (const std::string& uid : dependents(now.uid)) touch(uid);
}

void OwnerGraph::removed(const StoredObject& last) {
  unlink(last);
  places_.erase(last.uid);
  for (const std::string& uid : dependents(last.uid)) touch(uid);
  // An owner that waits for its dependents may now be free to go.
  for (const OwnerRef& owner : last.owners)
    if (places_.contains(owner.uid)) touch(owner.uid);
}

std::optional<ObjectPlace> OwnerGraph::find(std::string_view uid) const {
  const auto found = places_.find(std::string(uid));
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

const std::set<std::string>& OwnerGraph::dependents(const std::string& uid) const {
  static const std::set<std::string> none;
  const auto found = dependents_.find(uid);
  return found == dependents_.end() ? none : found->second;
}

void OwnerGraph::touch(const std::string& uid) {
  if (queued_.insert(uid).second) queue_.push_back(uid);
}

std::optional<std::string> OwnerGraph::take_touched() {
  if (queue_.empty()) return std::nullopt;
  std::string uid = std::move(queue_.front());
  queue_.pop_front();
  queued_.erase(uid);
  return uid;
}

void OwnerGraph::link(const StoredObject& object) {
  for (const OwnerRef& owner : object.owners) dependents_[owner.uid].insert(object.uid);
}

void OwnerGraph::unlink(const StoredObject& object) {
  for (const OwnerRef& owner : object.owners) {
    const auto found = dependents_.find(owner.uid);
    if (found == dependents_.end()) continue;
    found->second.erase(object.uid);
    if (found->second.empty()) dependents_.erase(found);
  }
}

}  // namespace amdahl::local
