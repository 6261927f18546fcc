// A whole controller: every ConfigMap labelled mirror=yes gets a child <name>-mirror with its data.
//
// Delete or edit the mirror and it comes back; delete the original and it goes.
#pragma once

#include <nlohmann/json.hpp>

#include "base/json_encode.hpp"
#include "operator/controller/child.hpp"
#include "operator/controller/manager.hpp"
#include "operator/controller/store.hpp"
#include "operator/kube/types.hpp"

namespace amdahl::examples {

using Maps = controller::Store<kube::ConfigMap>;

struct MirrorSeen {
  Maps::Ptr original = {};
  Maps::Ptr mirror = {};  // null: there is none
};

struct MirrorPlan {
  MirrorSeen seen = {};
  bool create = false;
  bool update = false;
};

class Mirror final : public controller::ObserveDecideApply<MirrorSeen, MirrorPlan> {
 public:
  explicit Mirror(const Maps& maps) : maps_(maps) {}

  Result<std::optional<MirrorSeen>> observe(const kube::ObjectKey& key) override {
    const Maps::Ptr original = maps_.find(key);
    if (!original || original->metadata.labels.find("mirror") != "yes") return std::nullopt;
    const std::string child = controller::child_name(key.name, {.role = "mirror"});
    const Maps::Ptr found = maps_.find({.ns = key.ns, .name = child});
    // A namesake of somebody else is not ours to change: create_child() reports it (W1).
    const auto owner = found ? controller::controller_of(*found) : std::nullopt;
    const bool ours = owner && owner->uid == original->metadata.uid;
    return MirrorSeen{.original = original, .mirror = ours ? found : nullptr};
  }

  MirrorPlan decide(const MirrorSeen& seen, WallTime /*now*/) const override {
    const bool same = seen.mirror && seen.mirror->data == seen.original->data;
    return {.seen = seen,
            .create = !seen.mirror && !seen.original->metadata.deleted,
            .update = seen.mirror && !same};
  }

  Task<Result<controller::Outcome>> apply(MirrorPlan plan, controller::Writer& writer) override {
    const kube::ConfigMap& original = *plan.seen.original;
    const Json data = encode(original.data);
    if (plan.create) {
      const std::string name = controller::child_name(original.metadata.name, {.role = "mirror"});
      Json child{{"metadata", {{"name", name}}}, {"data", data}};
      CO_TRY(co_await writer.create_child(kube::kConfigMaps, std::move(child),
                                          controller::owner_object(original)));
    }
    if (plan.update) {
      const kube::ConfigMap& mirror = *plan.seen.mirror;
      const Json change{{"data", controller::merge_diff(encode(mirror.data), data)}};
      CO_TRY(co_await writer.patch(kube::kConfigMaps, mirror.metadata.key(),
                                   mirror.metadata.version, change));
    }
    co_return controller::Outcome{};
  }

 private:
  const Maps& maps_;
};

// The process around it: a cache and its watcher, the controller, the manager.
struct MirrorProgram {
  MirrorProgram(const controller::Runtime& runtime, Rng rng, const std::string& ns,
                controller::ManagerOptions options)
      : watcher(runtime.client, rng.split(),
                {.resource = kube::kConfigMaps, .ns = ns, .shape = Maps::shape()}, maps),
        mirror(maps),
        controller(runtime, rng.split(), {.name = "mirror"}, mirror),
        manager(runtime, rng.split(), std::move(options)) {
    controller.reconciles(maps);
    controller.owns(maps);
    manager.add_source(maps, [this] { return watcher.run(); });
    manager.add(controller);
  }

  Maps maps;
  kube::Watcher watcher;
  Mirror mirror;
  controller::Controller controller;
  controller::Manager manager;
};

}  // namespace amdahl::examples
