// What the controller watches.
//
// Thread: one. Lifetime: outlives controller and watchers. Volcano's kinds may be absent from a
// cluster, come later, or go: then their caches count as synced and not as served, so that jobs
// without a gang run all the same.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "operator/controller/store.hpp"
#include "operator/training/event_notes.hpp"
#include "operator/training/types.hpp"

namespace amdahl::training {

// A kind that the API server may not serve, or not let us see.
class OptionalSource final : public controller::Source {
 public:
  explicit OptionalSource(controller::Source& store) : store_(store) {}

  // For WatcherOptions::on_problem.
  void on_problem(const Error& error);
  bool served() const { return store_.synced() && !absent(); }

  std::string_view kind() const override { return store_.kind(); }
  bool synced() const override { return store_.synced() || absent(); }
  std::string version() const override { return store_.version(); }
  bool contains(const kube::ObjectKey& key) const override { return store_.contains(key); }
  void subscribe(controller::ChangeHandler handler) override {
    store_.subscribe(std::move(handler));
  }

 private:
  // A list that came after the refusal has a version of its own.
  bool absent() const { return refused_ && store_.version() == version_then_; }

  controller::Source& store_;
  bool refused_ = false;
  std::string version_then_;
};

// Volcano rewrites the conditions of a waiting PodGroup every second. Wakes the owner only for what
// a decision looks at.
class GroupNews {
 public:
  explicit GroupNews(const controller::Store<kube::PodGroup>& groups) : groups_(groups) {}
  std::vector<kube::ObjectKey> operator()(const controller::Change& change);

 private:
  const controller::Store<kube::PodGroup>& groups_;
  std::map<kube::ObjectKey, std::string> last_;
};

// The pod that an event is about. With its namespace: the UID is what anybody can write.
std::string event_key(const kube::ObjectKey& pod, std::string_view uid);

struct Caches {
  Caches();
  controller::Store<TrainingJob> jobs = {};
  controller::Store<GangPod> pods = {};  // index "job": namespace/name of the job
  controller::Store<kube::PodGroup> groups = {};
  controller::Store<kube::Service> services = {};
  controller::Store<VolcanoQueue> queues = {};
  controller::Store<kube::Node> nodes = {};
  OptionalSource groups_source{groups};
  OptionalSource queues_source{queues};
  OptionalSource nodes_source{nodes};  // who watches one namespace may not see them
  EventNotes pod_events;               // of our pods, by event_key()
  EventNotes node_events;              // by name

 private:
  std::optional<std::string> key_of_pod(const kube::Event& event) const;
};

}  // namespace amdahl::training
