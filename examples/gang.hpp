// Gangs: a ConfigMap labelled gang=yes becomes pods that start, end and fail together.
//
//   data: size (1 to 64), command (for sh), maxRestarts (0), image (busybox), cpu (100m),
//   gpus (none)
//
// It gets a Volcano PodGroup and a headless Service, both <name>-gang, and pods
// <name>-<attempt>-<rank>. When a pod fails or vanishes the rest of its attempt is deleted and the
// next attempt begins, up to maxRestarts. What has been decided stands in a ConfigMap
// <name>-result before it is acted upon, so a crash between any two writes is harmless.
#pragma once

#include "operator/controller/manager.hpp"
#include "operator/controller/store.hpp"
#include "operator/kube/types.hpp"

namespace amdahl::examples {

template <class T>
using Store = controller::Store<T>;
using MapPtr = Store<kube::ConfigMap>::Ptr;
using PodPtr = Store<kube::Pod>::Ptr;

// What <name>-result says.
struct GangRecord {
  std::uint32_t attempt = 0;
  std::uint32_t size = 0;    // of this attempt; a change of the gang counts from the next one on
  std::string phase = {};    // "Starting", "Running", "Succeeded", "Failed"
  std::string pods_at = {};  // version of the cache of pods that had them all
};

struct GangSeen {
  MapPtr gang = {};
  std::uint32_t size = 0;
  std::uint32_t restarts_max = 0;
  MapPtr result = {};                     // null: there is none
  std::optional<GangRecord> record = {};  // what it says, if it can be read
  bool has_group = false;
  bool has_service = false;
  std::vector<PodPtr> pods = {};  // of all attempts
  std::string pods_version = {};  // how new `pods` is
};

struct GangPlan {
  GangSeen seen = {};
  std::vector<PodPtr> drop = {};
  std::vector<std::uint32_t> create = {};  // ranks of the attempt
  std::optional<GangRecord> record = {};   // the new one, written last
  std::string reason = {};                 // of the new record, for an event; empty: none
};

struct GangCaches {
  GangCaches();
  Store<kube::ConfigMap> maps = {};
  Store<kube::Pod> pods = {};
  Store<kube::PodGroup> groups = {};
  Store<kube::Service> services = {};
};

class Gang final : public controller::ObserveDecideApply<GangSeen, GangPlan> {
 public:
  Gang(const GangCaches& caches, controller::EventRecorder& events)
      : caches_(caches), events_(events) {}
  Result<std::optional<GangSeen>> observe(const kube::ObjectKey& key) override;
  GangPlan decide(const GangSeen& seen, WallTime now) const override;
  Task<Result<controller::Outcome>> apply(GangPlan plan, controller::Writer& writer) override;

 private:
  const GangCaches& caches_;
  controller::EventRecorder& events_;
};

// The process around it.
struct GangProgram {
  GangProgram(const controller::Runtime& runtime, Rng rng, const std::string& ns,
              controller::ManagerOptions options);

  GangCaches caches;
  std::vector<std::unique_ptr<kube::Watcher>> watchers;
  controller::Manager manager;
  Gang gang;
  controller::Controller controller;
};

}  // namespace amdahl::examples
