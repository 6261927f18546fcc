// What this scheduler wrote to pods and its cache has not shown yet, laid over what is seen.
//
// A binding is answered without a version, so the controller's write gate cannot wait for it: until
// the pod is seen bound, it counts as bound. Without this a second pass would give its place away.
// Thread: one. Lifetime: that of the scheduler. Failure: none. Memory: one entry for each pod
// written to and not seen since; entries of pods that are gone are dropped with the next pass.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "local/scheduler/cluster_view.hpp"
#include "local/scheduler/types.hpp"

namespace amdahl::local::scheduling {

class OwnWrites {
 public:
  void bound(const Binding& binding) { bindings_[binding.uid] = {binding, true}; }
  // Sent, and nobody knows what became of it: counts as bound, and is asked for before the next
  // pass.
  void maybe_bound(const Binding& binding) { bindings_[binding.uid] = {binding, false}; }
  std::vector<Binding> uncertain() const;
  // The live pod was asked for: `node` is where it is, empty for nowhere.
  void asked(const Binding& binding, std::string node);
  // `version` is that of the pod after the write.
  void said(const Unplaced& what, std::string version);

  // Corrects a pod that was read from the cache, and forgets what the cache has caught up with.
  void overlay(const cached::Pod& seen, PodView& view);
  void keep_only(const std::set<std::string>& uids);
  std::size_t size() const { return bindings_.size() + conditions_.size(); }

 private:
  struct Bound {
    Binding binding = {};
    bool certain = true;
  };
  struct Said {
    ScheduledCondition condition = {};
    std::string version = {};
  };
  std::map<std::string, Bound> bindings_;  // by UID
  std::map<std::string, Said> conditions_;
};

}  // namespace amdahl::local::scheduling
