#include "operator/training/program.hpp"

#include <map>

#include "operator/api/names.hpp"
#include "operator/training/watch_metrics.hpp"

namespace amdahl::training {
namespace {

template <class T>
kube::WatcherOptions watch_options(std::string_view ns, std::string_view labels) {
  return {.resource = T::resource(),
          .ns = T::resource().namespaced ? std::string(ns) : std::string(),
          .labels = std::string(labels),
          .shape = controller::Store<T>::shape()};
}

}  // namespace

TrainingProgram::TrainingProgram(const controller::Runtime& runtime, Rng rng,
                                 TrainingOptions options, controller::Manager& manager,
                                 Reports& reports)
    : client_(runtime.client),
      log_(runtime.log),
      rng_(rng),
      ns_(options.ns),
      manager_(manager),
      job_sink_(caches_.jobs,
                [this](const Error& error) {
                  log_.warning("a job that cannot be read is left alone", {{"error", error}});
                }),
      looks_(runtime.executor, runtime.client.clock(), options.reader),
      reconciler_({caches_, reports, looks_, runtime.client, manager.events(), runtime.metrics,
                   runtime.log},
                  std::move(options.pods)),
      controller_(runtime, rng_.split(), std::move(options.controller), reconciler_) {
  controller_.reconciles(caches_.jobs);
  // What a status write put on record is acted upon by the next pass, so it wakes that pass.
  controller_.watches(caches_.jobs, [](const controller::Change& change) {
    return std::vector<kube::ObjectKey>{change.key};
  });
  controller_.owns(caches_.pods);
  controller_.owns(caches_.services);
  controller_.watches(caches_.groups_source, GroupNews(caches_.groups));

  const std::string_view mine = api::label::kJob;  // only what has the label at all (L15)
  watch(watch_options<TrainingJob>(ns_, ""), job_sink_, caches_.jobs);
  watch(watch_options<GangPod>(ns_, mine), caches_.pods, caches_.pods);
  watch(watch_options<kube::Service>(ns_, mine), caches_.services, caches_.services);
  auto groups = watch_options<kube::PodGroup>(ns_, mine);
  groups.on_problem = [this](const Error& error) { caches_.groups_source.on_problem(error); };
  watch(std::move(groups), caches_.groups, caches_.groups_source);
  auto queues = watch_options<VolcanoQueue>(ns_, "");
  queues.on_problem = [this](const Error& error) { caches_.queues_source.on_problem(error); };
  watch(std::move(queues), caches_.queues, caches_.queues_source);
  auto nodes = watch_options<kube::Node>(ns_, "");
  nodes.on_problem = [this](const Error& error) { caches_.nodes_source.on_problem(error); };
  watch(std::move(nodes), caches_.nodes, caches_.nodes_source);
  watch_events();
  manager_.add(controller_);
  show_watch_restarts(runtime.metrics, [this] { return watch_restarts(); });
  const auto wake = [this](const kube::ObjectKey& key) { controller_.queue().add(key); };
  reports.on_news(wake);
  looks_.on_news(wake);
  if (!looks_.can_look()) return;
  for (int i = 0; i < kLookersMax; ++i)
    manager_.add_background("looks at checkpoints", [this] { return looks_.work(); });
}

// Evidence, and no more: nothing waits for it, and without the right to see it jobs run all the
// same.
void TrainingProgram::watch_events() {
  const auto add = [this](std::string_view kind, EventNotes& notes) {
    auto options = watch_options<kube::Event>(ns_, "");
    options.fields = fmt::format("regarding.kind={},type=Warning", kind);
    options.on_problem = [this](const Error& error) {
      log_.warning("watch failed", {{"kind", "events"}, {"error", error}});
    };
    watched_.emplace_back(options.resource.plural);
    watchers_.push_back(
        std::make_unique<kube::Watcher>(client_, rng_.split(), std::move(options), notes));
    manager_.add_background(fmt::format("events of {}", kind),
                            [&watcher = *watchers_.back()] { return watcher.run(); });
  };
  // What a pod waits for comes as an event, and nothing else about it changes.
  caches_.pod_events.on_news([this](const kube::Event& event) {
    const auto pod = caches_.pods.find({.ns = event.metadata.ns, .name = event.regarding.name});
    const auto owner = pod ? controller::controller_of(*pod) : std::nullopt;
    if (owner) controller_.queue().add({.ns = event.metadata.ns, .name = owner->name});
  });
  add("Pod", caches_.pod_events);
  if (ns_.empty()) add("Node", caches_.node_events);  // those are in the namespace default
}

void TrainingProgram::watch(kube::WatcherOptions options, kube::ObjectSink& store,
                            controller::Source& source) {
  options.on_problem = [this, also = std::move(options.on_problem),
                        kind = options.resource.plural](const Error& error) {
    log_.warning("watch failed", {{"kind", kind}, {"error", error}});
    if (also) also(error);
  };
  watched_.emplace_back(options.resource.plural);
  watchers_.push_back(
      std::make_unique<kube::Watcher>(client_, rng_.split(), std::move(options), store));
  manager_.add_source(source, [&watcher = *watchers_.back()] { return watcher.run(); });
}

std::vector<Sample> TrainingProgram::watch_restarts() const {
  std::map<std::string, std::uint64_t> restarts;  // some resources have two watches
  for (std::size_t i = 0; i < watchers_.size(); ++i) {
    const std::uint64_t opened = watchers_[i]->counts().opened;
    restarts[watched_[i]] += opened > 0 ? opened - 1 : 0;
  }
  std::vector<Sample> samples;
  samples.reserve(restarts.size());
  for (const auto& [resource, count] : restarts)
    samples.push_back({.labels = {{"resource", resource}}, .value = static_cast<double>(count)});
  return samples;
}

}  // namespace amdahl::training
