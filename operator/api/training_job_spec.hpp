// What a user asks of a TrainingJob, with defaults, bounds and the rules of the API server.
//
// Plain values, any thread. The sentences here are what `kubectl explain` and
// docs/reference/trainingjob.md show; `make crds` after a change.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/duration.hpp"
#include "base/fields.hpp"
#include "operator/api/bounds.hpp"
#include "operator/api/training_job_checkpoint.hpp"
#include "operator/api/training_job_enums.hpp"

namespace amdahl::api {

using namespace std::chrono_literals;

struct NetworkTopology {
  TopologyMode mode = TopologyMode::kSoft;
  std::optional<std::int32_t> highest_tier_allowed = {};
  bool operator==(const NetworkTopology&) const = default;
};
template <class V>
constexpr void fields(V& v, NetworkTopology& topology) {
  v.defaulted("mode", topology.mode, TopologyMode::kSoft,
              {.doc = "Whether the tier is a wish (soft) or a condition (hard)."});
  v.optional(
      "highestTierAllowed", topology.highest_tier_allowed,
      {.doc = "The highest tier of the network that the gang may span.", .min = 0, .max = 100});
}

struct SchedulingSpec {
  GangScheduler gang = GangScheduler::kVolcano;
  std::string queue = "default";
  std::string priority_class = {};
  Admission admission = Admission::kAutoscaled;
  std::optional<NetworkTopology> network_topology = {};
  bool operator==(const SchedulingSpec&) const = default;
};
template <class V>
constexpr void fields(V& v, SchedulingSpec& spec) {
  v.defaulted("gang", spec.gang, GangScheduler::kVolcano,
              {.doc = "Who places the pods. Volcano places all of them at once or none; with None "
                      "the default scheduler places them one by one."});
  v.defaulted("queue", spec.queue, "default",
              {.doc = "The Volcano queue that the gang waits in and counts against.",
               .length_min = 1,
               .length_max = kSubdomainMax,
               .pattern = kSubdomainPattern});
  v.optional("priorityClassName", spec.priority_class,
             {.doc = "The PriorityClass of the pods and of the gang. Empty means the cluster's "
                     "default.",
              .length_max = kSubdomainMax,
              .pattern = R"(^$|^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$)"});
  v.defaulted("admission", spec.admission, Admission::kAutoscaled,
              {.doc = "When pods are created. Autoscaled creates them at once, so that a cluster "
                      "autoscaler sees them. Fixed asks for all resources first and creates the "
                      "pods when the queue has let the gang in."});
  v.optional("networkTopology", spec.network_topology,
             {.doc = "How far apart in the network the pods may be; passed on to Volcano."});
  // The server tries rules on the default, {}, before it has filled in the members; hence has().
  v.rule({.rule = "!has(self.gang) || self.gang == 'Volcano' || self.admission == 'Autoscaled'",
          .message = "admission Fixed needs gang Volcano",
          .field = ".admission"});
  v.rule({.rule = "!has(self.networkTopology) || self.gang == 'Volcano'",
          .message = "networkTopology needs gang Volcano",
          .field = ".networkTopology"});
}

struct RestartSpec {
  std::int32_t failures_max = 3;
  std::int32_t disruptions_max = 50;
  bool refill_on_progress = true;
  Duration backoff = 10s;
  Duration backoff_max = 5min;
  bool operator==(const RestartSpec&) const = default;
};
template <class V>
constexpr void fields(V& v, RestartSpec& spec) {
  v.defaulted("maxFailures", spec.failures_max, 3,
              {.doc = "How often the gang is started again after failures of its own.",
               .min = 0,
               .max = 10'000});
  v.defaulted("maxDisruptions", spec.disruptions_max, 50,
              {.doc = "How often it is started again after what was not its fault: preemption, "
                      "lost nodes, drains.",
               .min = 0,
               .max = 100'000});
  v.defaulted("refillOnProgress", spec.refill_on_progress, true,
              {.doc = "Whether an attempt that got further than all before it gives back the "
                      "failures that were spent."});
  v.defaulted("backoff", spec.backoff, 10s,
              {.doc = "How long to wait before the first restart; doubles with each failure that "
                      "follows.",
               .min = 0,
               .max = kDay});
  v.defaulted("backoffMax", spec.backoff_max, 5min,
              {.doc = "The longest wait before a restart.", .min = 0, .max = kDay});
  v.rule({.rule = "!has(self.backoff) || duration(self.backoff) <= duration(self.backoffMax)",
          .message = "backoff must not be longer than backoffMax",
          .field = ".backoff"});
}

struct DeadlineSpec {
  OptionalDuration queue = {};
  OptionalDuration start = 30min;
  OptionalDuration step = 15min;
  OptionalDuration active = {};
  bool operator==(const DeadlineSpec&) const = default;
};
template <class V>
constexpr void fields(V& v, DeadlineSpec& spec) {
  const auto limit = [&](const char* name, OptionalDuration& span, OptionalDuration usual,
                         std::int64_t seconds_min, const char* doc) {
    v.defaulted(name, span, usual, {.doc = doc, .min = seconds_min, .max = kYear});
  };
  limit("queue", spec.queue, {}, 1,
        "How long the gang may wait for its nodes before the job fails. Empty means for ever.");
  limit("start", spec.start, 30min, 1,
        "How long it may take from bound pods to the first step, evaluation or checkpoint. A "
        "trainer that prints, but no step that is understood, is not ended. Empty means for ever.");
  limit("step", spec.step, 15min, 10,
        "How long the ranks that report steps may go without one before the gang counts as hung "
        "and is restarted; at least 30 usual steps. Steps that only hooks count never end a gang. "
        "Empty means for ever.");
  limit("active", spec.active, {}, 1,
        "How long the job may train in all its attempts together; pauses do not count. Empty "
        "means for ever.");
}

struct TrainingJobSpec {
  Runtime runtime = Runtime::kTorchrun;
  std::int32_t nodes = 1;
  std::optional<std::int32_t> processes_per_node = {};
  std::string family = {};
  Hooks hooks = Hooks::kAuto;
  Json pod_template = Json::object();  // PodTemplateSpec, as the user wrote it
  bool suspend = false;
  bool cancel = false;
  SchedulingSpec scheduling = {};
  CheckpointSpec checkpoint = {};
  RestartSpec restart = {};
  DeadlineSpec deadlines = {};
  OptionalDuration ttl_after_finished = 24h;
  bool operator==(const TrainingJobSpec&) const = default;
};

inline constexpr CelRule kCancelRules[] = {
    {.rule = "self || !oldSelf", .message = "cancel cannot be taken back"}};

// A running gang has one shape: what decides it changes between two runs.
template <class V>
constexpr void rules_of_suspension(V& v) {
  v.rule({.rule = "(self.suspend && oldSelf.suspend) || self.nodes == oldSelf.nodes",
          .message = "nodes can be changed only while the job is suspended: set suspend to true "
                     "first, and change it in a later update",
          .field = ".nodes"});
  v.rule(
      {.rule = "(self.suspend && oldSelf.suspend) || "
               "(has(self.processesPerNode) == has(oldSelf.processesPerNode) && "
               "(!has(self.processesPerNode) || "
               "self.processesPerNode == oldSelf.processesPerNode))",
       .message =
           "processesPerNode can be changed only while the job is suspended: set suspend to true "
           "first, and change it in a later update",
       .field = ".processesPerNode"});
  v.rule({.rule = "(self.suspend && oldSelf.suspend) || self.template == oldSelf.template",
          .message = "template can be changed only while the job is suspended: set suspend to true "
                     "first, and change it in a later update",
          .field = ".template"});
  v.rule({.rule = "(self.suspend && oldSelf.suspend) || "
                  "(has(self.checkpoint.uri) == has(oldSelf.checkpoint.uri) && "
                  "(!has(self.checkpoint.uri) || self.checkpoint.uri == oldSelf.checkpoint.uri))",
          .message =
              "checkpoint.uri can be changed only while the job is suspended: set suspend to true "
              "first, and change it in a later update",
          .field = ".checkpoint.uri"});
}

template <class V>
constexpr void fields(V& v, TrainingJobSpec& spec) {
  v.required("runtime", spec.runtime,
             {.doc = "What starts the processes of a node: Torchrun, DeepSpeed, or Python for one "
                     "plain process per node or your own launcher.",
              .immutable = true});
  v.required("nodes", spec.nodes,
             {.doc = "How many pods the gang has. They start, fail and restart together. Can be "
                     "changed only while the job is suspended.",
              .min = 1,
              .max = kNodesMax});
  v.optional("processesPerNode", spec.processes_per_node,
             {.doc = "How many processes run in each pod. Default: the GPUs of the trainer "
                     "container, or 1. Can be changed only while the job is suspended.",
              .min = 1,
              .max = kProcessesPerNodeMax});
  v.optional("family", spec.family,
             {.doc = "Jobs with the same family do the same work and are compared with each "
                     "other. Default: the name without a trailing number or hash.",
              .length_min = 1,
              .length_max = kLabelMax,
              .pattern = kLabelPattern});
  v.defaulted("hooks", spec.hooks, Hooks::kAuto,
              {.doc = "Auto counts the steps of torch optimizers and of DeepSpeed in scripts that "
                      "tell of no steps, without a change to them. \"Off\", in quotes because "
                      "YAML takes it for false, puts nothing into the script's process. A change "
                      "counts from the next attempt on."});
  v.required("template", spec.pod_template,
             {.doc = "The pod of every rank, a PodTemplateSpec. The workload is the container "
                     "named trainer, or the only one. With Torchrun and DeepSpeed its command is a "
                     "script and its arguments ([train.py, ...], [python, train.py, ...] or "
                     "[python, -m, train, ...]), which torchrun starts; any other command runs as "
                     "it is, with the PET_* variables of torchrun, and must form a world of nodes "
                     "x processesPerNode. The API server checks the template when the first pod "
                     "is tried, and the job shows its answer. Can be changed only while the "
                     "job is suspended."});
  v.defaulted("suspend", spec.suspend, false,
              {.doc = "true pauses the job: a checkpoint is committed, then its pods go. false "
                      "runs it, from the newest checkpoint if there is one."});
  v.defaulted("cancel", spec.cancel, false,
              {.doc = "true ends the job for good. It cannot be taken back.", .cel = kCancelRules});
  v.optional("scheduling", spec.scheduling, {.doc = "How the pods find their nodes."});
  v.optional("checkpoint", spec.checkpoint,
             {.doc = "Where, how often and for how long the state is kept."});
  v.optional("restart", spec.restart,
             {.doc = "How often and how fast a gang that failed is started again."});
  v.optional("deadlines", spec.deadlines, {.doc = "How long parts of the job may take."});
  v.defaulted("ttlAfterFinished", spec.ttl_after_finished, OptionalDuration{24h},
              {.doc = "How long after its end the job and its pods are removed. Empty keeps them "
                      "until somebody deletes the job.",
               .min = 0,
               .max = 10 * kYear});
  rules_of_suspension(v);
}

}  // namespace amdahl::api
