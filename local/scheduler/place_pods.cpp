#include "local/scheduler/place_pods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json_encode.hpp"
#include "local/scheduler/in_parallel.hpp"
#include "local/scheduler/observe.hpp"
#include "local/scheduler/schedule.hpp"
#include "operator/kube/api.hpp"

namespace amdahl::local::scheduling {
namespace {

constexpr std::chrono::seconds kLookAgain{1};

bool outcome_unknown(Errc code) {
  return code == Errc::kIo || code == Errc::kTimeout || code == Errc::kUnavailable ||
         code == Errc::kCorrupt;
}

Json binding_body(const Binding& binding) {
  return {{"apiVersion", "v1"},
          {"kind", "Binding"},
          {"metadata",
           {{"name", binding.pod.name}, {"namespace", binding.pod.ns}, {"uid", binding.uid}}},
          {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", binding.node}}}};
}

// Replaces the one condition and leaves those of the kubelet alone; only over the version seen.
Json condition_patch(const cached::Pod& pod, const Unplaced& what, WallTime now) {
  const auto& conditions = pod.status.conditions;
  const auto known =
      std::ranges::find(conditions, kube::PodConditionType::kScheduled, &kube::PodCondition::type);
  const bool flips = known == conditions.end() || !known->changed ||
                     known->status != kube::ConditionStatus::kFalse;
  const Json condition{{"type", "PodScheduled"},
                       {"status", "False"},
                       {"lastProbeTime", nullptr},
                       {"lastTransitionTime", format_time(flips ? now : *known->changed)},
                       {"reason", what.reason},
                       {"message", what.message}};
  Json operations = Json::array(
      {{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", pod.metadata.version}}});
  if (conditions.empty()) {
    operations.push_back(
        {{"op", "add"}, {"path", "/status/conditions"}, {"value", Json::array({condition})}});
  } else if (known == conditions.end()) {
    operations.push_back({{"op", "add"}, {"path", "/status/conditions/-"}, {"value", condition}});
  } else {
    operations.push_back(
        {{"op", "replace"},
         {"path", fmt::format("/status/conditions/{}", known - conditions.begin())},
         {"value", condition}});
  }
  return operations;
}

template <class T, class Convert>
auto views_of(const controller::Store<T>& store, Convert convert) {
  std::vector<decltype(convert(*store.find({})))> views;
  views.reserve(store.size());
  store.for_each([&](const auto& object) { views.push_back(convert(*object)); });
  return views;
}

}  // namespace

PlacePods::PlacePods(boost::asio::any_io_executor executor, kube::Client& client,
                     const Stores& stores, Options options, Log log)
    : executor_(std::move(executor)),
      client_(client),
      stores_(stores),
      options_(std::move(options)),
      log_(std::move(log)) {}

Task<Result<controller::Outcome>> PlacePods::reconcile(kube::ObjectKey /*key*/,
                                                       controller::Reconcile context) {
  // The pods of a gang arrive one by one: wait for more before looking at all of them.
  if (!co_await client_.clock().sleep_for(options_.gather))
    co_return fail(Errc::kCancelled, "scheduler stopped");
  CO_TRY(co_await ask_uncertain());
  ++passes_;
  const WallTime now = client_.clock().wall();
  co_return co_await apply(schedule(observe(), now), context.writer, now);
}

ClusterView PlacePods::observe() {
  ClusterView view{.nodes = views_of(stores_.nodes, node_view),
                   .groups = views_of(stores_.groups, group_view),
                   .queues = views_of(stores_.queues, queue_view)};
  stores_.priorities.for_each(
      [&](const auto& one) { view.priority_classes.emplace(one->metadata.name, one->value); });
  std::set<std::string> uids;
  view.pods.reserve(stores_.pods.size());
  stores_.pods.for_each([&](const auto& one) {
    PodView& pod = view.pods.emplace_back(pod_view(*one, view.priority_classes));
    own_.overlay(*one, pod);
    uids.insert(pod.uid);
  });
  own_.keep_only(uids);
  return view;
}

Task<Result<void>> PlacePods::ask_uncertain() {
  const kube::ObjectApi<cached::Pod> pods(client_, kube::kPods);
  for (const Binding& binding : own_.uncertain()) {
    auto live = co_await pods.get(binding.pod);
    const bool gone = !live && live.error().code == Errc::kNotFound;
    if (!live && !gone) co_return std::unexpected<Error>(std::move(live).error());
    own_.asked(binding, gone || live->metadata.uid != binding.uid ? "" : live->spec.node);
  }
  co_return Result<void>{};
}

Task<Result<controller::Outcome>> PlacePods::apply(Plan plan, controller::Writer& writer,
                                                   WallTime now) {
  look_again_ = false;
  Parallel writes(executor_, client_.clock(), kWritesInFlightMax);
  CO_TRY(co_await writes.run(plan.bindings.size(),
                             [&](std::size_t i) { return bind(plan.bindings[i]); }));
  CO_TRY(co_await writes.run(plan.groups.size(),
                             [&](std::size_t i) { return write_group(plan.groups[i], writer); }));
  CO_TRY(co_await writes.run(plan.queues.size(),
                             [&](std::size_t i) { return write_queue(plan.queues[i], writer); }));
  CO_TRY(co_await writes.run(
      plan.unplaced.size(), [&](std::size_t i) { return write_condition(plan.unplaced[i], now); }));
  if (!plan.bindings.empty())
    log_.info("pods bound", {{"pods", static_cast<std::int64_t>(plan.bindings.size())}});
  controller::Outcome outcome;
  if (look_again_) outcome.requeue_after = kLookAgain;
  co_return outcome;
}

Result<void> PlacePods::dropped(Error error) {
  const bool moved_on = error.code == Errc::kConflict || error.code == Errc::kNotFound;
  if (!moved_on) return std::unexpected<Error>(std::move(error));
  log_.info("a write was refused, looking again", {{"error", error}});
  look_again_ = true;
  return {};
}

Task<Result<void>> PlacePods::bind(const Binding& binding) {
  CO_TRY(kube::Request request, kube::create_request(kube::kPods, binding.pod.ns, binding.pod.name,
                                                     controller::to_body(binding_body(binding)),
                                                     options_.field_manager, "binding"));
  ++writes_;
  // From here on it may happen, also when this task is stopped before the answer.
  own_.maybe_bound(binding);
  const auto sent = co_await client_.send(std::move(request));
  if (sent) {
    own_.bound(binding);
    co_return Result<void>{};
  }
  const Errc code = sent.error().code;
  if (!outcome_unknown(code) && code != Errc::kCancelled) own_.asked(binding, "");
  co_return dropped(sent.error());
}

Task<Result<void>> PlacePods::write_condition(const Unplaced& what, WallTime now) {
  const auto pod = stores_.pods.find(what.pod);
  if (!pod || pod->metadata.uid != what.uid) co_return Result<void>{};
  const kube::ObjectApi<cached::Pod> pods(client_, kube::kPods);
  ++writes_;
  auto written = co_await pods.patch(what.pod, condition_patch(*pod, what, now),
                                     {.kind = kube::PatchKind::kJson,
                                      .field_manager = options_.field_manager,
                                      .subresource = "status"});
  if (!written) {
    Error error = std::move(written).error();
    // The server answers a failed test with "invalid"; for us it means: look again.
    if (error.code == Errc::kInvalid) error.code = Errc::kConflict;
    co_return dropped(std::move(error));
  }
  own_.said(what, written->metadata.version);
  co_return Result<void>{};
}

Task<Result<void>> PlacePods::write_group(const GroupUpdate& update, controller::Writer& writer) {
  const auto group = stores_.groups.find(update.group);
  if (!group || group->metadata.uid != update.uid) co_return Result<void>{};
  Json change;
  Json& status = change["status"];
  status = controller::merge_diff(encode(group->status), encode(update.status));
  // A status that cannot be read looks like none. What is left of it goes, or it would never be
  // readable, and every pass would write again.
  if (group->status == GroupStatus{})
    for (const char* part : {"conditions", "running", "succeeded", "failed"})
      if (!status.contains(part)) status[part] = nullptr;
  ++writes_;
  // PodGroup has no status subresource; see volcano_crds.yaml.
  auto written = co_await writer.patch(kube::kPodGroups, update.group, group->metadata.version,
                                       std::move(change));
  if (!written && written.error().code == Errc::kInvalid) {
    log_.warning("a pod group's status was refused", {{"error", written.error()}});
    co_return Result<void>{};  // its own fault, and no reason to leave the others
  }
  if (!written) co_return dropped(std::move(written).error());
  co_return Result<void>{};
}

Task<Result<void>> PlacePods::write_queue(const QueueUpdate& update, controller::Writer& writer) {
  const auto queue = stores_.queues.find({.ns = "", .name = update.queue});
  if (!queue || queue->metadata.uid != update.uid) co_return Result<void>{};
  ++writes_;
  auto written = co_await writer.update_status({.resource = cached::kQueues,
                                                .key = {.ns = "", .name = update.queue},
                                                .version = queue->metadata.version,
                                                .before = encode(queue->status),
                                                .after = encode(update.status)});
  if (!written) co_return dropped(std::move(written).error());
  co_return Result<void>{};
}

}  // namespace amdahl::local::scheduling
