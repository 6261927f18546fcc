#include "local/scheduler/own_writes.hpp"

#include <utility>

#include "operator/kube/resource_version.hpp"

namespace amdahl::local::scheduling {

std::vector<Binding> OwnWrites::uncertain() const {
  std::vector<Binding> found;
  for (const auto& [uid, bound] : bindings_)
    if (!bound.certain) found.push_back(bound.binding);
  return found;
}

void OwnWrites::asked(const Binding& binding, std::string node) {
  bindings_.erase(binding.uid);
  if (node.empty()) return;
  bound({.pod = binding.pod, .uid = binding.uid, .node = std::move(node)});
}

void OwnWrites::said(const Unplaced& what, std::string version) {
  conditions_[what.uid] = {.condition = {.status = kube::ConditionStatus::kFalse,
                                         .reason = what.reason,
                                         .message = what.message},
                           .version = std::move(version)};
}

void OwnWrites::overlay(const cached::Pod& seen, PodView& view) {
  if (const auto found = bindings_.find(view.uid); found != bindings_.end()) {
    if (view.node.empty()) {
      view.node = found->second.binding.node;
    } else {
      bindings_.erase(found);
    }
  }
  if (const auto found = conditions_.find(view.uid); found != conditions_.end()) {
    const auto order = kube::compare_versions(seen.metadata.version, found->second.version);
    if (order && *order < 0) {
      view.scheduled = found->second.condition;
    } else {
      conditions_.erase(found);
    }
  }
}

void OwnWrites::keep_only(const std::set<std::string>& uids) {
  std::erase_if(bindings_, [&](const auto& entry) { return !uids.contains(entry.first); });
  std::erase_if(conditions_, [&](const auto& entry) { return !uids.contains(entry.first); });
}

}  // namespace amdahl::local::scheduling
