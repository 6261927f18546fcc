#include "local/kubelet/pod_worker.hpp"

#include <algorithm>

#include "base/json_encode.hpp"
#include "local/kubelet/kept_owner.hpp"
#include "local/kubelet/orphan_pods.hpp"
#include "local/kubelet/pod_sources.hpp"
#include "operator/kube/api.hpp"

namespace amdahl::local {
namespace {

using controller::EventType;
using Next = controller::Outcome;
using kube::ObjectKey;

constexpr std::chrono::milliseconds kSoon{1};
constexpr std::chrono::seconds kGoneRetry{1};
constexpr std::chrono::milliseconds kRoomRetry{50};  // until processes that were killed are gone

Next again_after(std::chrono::nanoseconds delay) {
  return {.requeue_after = std::max<std::chrono::nanoseconds>(delay, kSoon)};
}

bool is_over(const PodStatus& status) {
  return status.phase == "Succeeded" || status.phase == "Failed";
}

std::int64_t gpus_of(const Pod& pod) {
  std::int64_t wanted = 0;
  for (const Container& container : pod.spec.containers) wanted += gpus_of(container);
  for (const Container& container : pod.spec.init_containers)
    wanted = std::max(wanted, gpus_of(container));
  return wanted;
}

}  // namespace

PodWorker::PodWorker(WorkerContext context, Wake wake)
    : context_(std::move(context)),
      clock_(context_.client.clock()),
      wake_(std::move(wake)),
      ended_(context_.tasks.executor()) {
  for (const NodeSpec& node : context_.options.nodes) slots_.emplace(node.name, node.gpus);
}

void PodWorker::use(Isolation isolation, std::optional<MemoryCgroups> cgroups) {
  isolation_ = std::move(isolation);
  cgroups_ = std::move(cgroups);
}

bool PodWorker::is_ours(const std::string& node) const {
  return slots_.contains(node);
}

void PodWorker::tell(const PodEntry& entry, EventType type, std::string reason, std::string note) {
  context_.events.record({.subject = controller::event_subject(*entry.pod),
                          .type = type,
                          .reason = std::move(reason),
                          .action = "Run",
                          .note = std::move(note)});
}

Task<Result<Next>> PodWorker::reconcile(ObjectKey key, controller::Reconcile context) {
  const auto pod = context_.pods.find(key);
  auto found = entries_.find(key);
  const bool same =
      found != entries_.end() && pod && found->second->pod->metadata.uid == pod->metadata.uid;
  if (found != entries_.end() && !same) {
    // Deleted by force, or another pod of the same name: nothing waits for it any more.
    if (!co_await forget(key)) co_return again_after(kGoneRetry);
    found = entries_.end();
  }
  if (!pod) co_return Next{};
  if (found == entries_.end() && pod->spec.containers.empty()) co_return co_await drop(*pod);
  const std::string& node = (found == entries_.end() ? pod : found->second->pod)->spec.node;
  if (!is_ours(node)) co_return co_await clear_orphan(context_.client, *pod, context);
  if (found == entries_.end() && room_is_leaving(*pod)) co_return again_after(kRoomRetry);
  if (found == entries_.end()) found = entries_.emplace(key, admit(pod, context.now)).first;
  const Entry entry = found->second;
  if (entry->pod->metadata.version != pod->metadata.version) {
    // Only what may change after a pod was bound is taken over.
    auto fresh = std::make_shared<Pod>(*entry->pod);
    fresh->metadata = pod->metadata;
    fresh->status = pod->status;
    entry->pod = fresh;
  }
  co_return co_await work(entry, context);
}

// Every pod has containers: this one's spec could not be read, which the watch has told. It never
// ran here, so nothing has to end before it may go.
Task<Result<Next>> PodWorker::drop(const Pod& pod) {
  if (!pod.metadata.deleted) co_return Next{};
  const kube::DynamicApi pods(context_.client, kube::kPods);
  const auto removed =
      co_await pods.remove(pod.metadata.key(), {.uid = pod.metadata.uid, .grace_seconds = 0});
  if (!removed && removed.error().code != Errc::kNotFound)
    co_return std::unexpected<Error>(removed.error());
  co_return Next{};
}

Task<Result<Next>> PodWorker::work(Entry entry, controller::Reconcile context) {
  if (!entry->life.started && !entry->pod->metadata.deleted) {
    // The first word about the pod comes before anything that takes time.
    entry->life.started = context.now;
    update_hosts(entry->pod->metadata.ns);
    CO_TRY(co_await write_status(entry, context));
    co_return again_after(kSoon);
  }
  const PodPlan plan = decide(*entry->pod, entry->life, context.now);
  const bool soon = co_await apply(entry, plan, context.now);
  if (entry->gone) co_return Next{};
  CO_TRY(co_await write_status(entry, context));
  if (plan.over) release(*entry);
  if (plan.over && entry->pod->metadata.deleted) {
    co_await keep_logs(entry);  // before users see that the pod is gone
    CO_TRY(co_await finish_delete(entry));
    co_return Next{};
  }
  std::optional<WallTime> wake = plan.wake;
  if (entry->tokens_until && !plan.over)
    wake = wake ? std::min(*wake, *entry->tokens_until) : *entry->tokens_until;
  if (soon) co_return again_after(kSoon);
  const bool waiting = std::ranges::any_of(
      plan.start, [&](std::size_t index) { return !entry->life.containers[index].active; });
  if (waiting) co_return again_after(kStartRetry);
  if (!wake) co_return Next{};
  co_return again_after(*wake - clock_.wall());
}

Task<bool> PodWorker::apply(Entry entry, PodPlan plan, WallTime now) {
  if (!plan.reason.empty()) {
    entry->life.reason = plan.reason;
    entry->life.message = plan.message;
    tell(*entry, EventType::kWarning, plan.reason, plan.message);
  }
  if (plan.kill_at) entry->life.kill_at = plan.kill_at;
  for (const std::size_t index : plan.terminate) {
    tell(*entry, EventType::kNormal, "Killing",
         "Stopping container " + entry->container(index).name);
    if (const auto process = entry->processes.find(index); process != entry->processes.end())
      process->second->terminate();
  }
  if (plan.kill)
    for (const auto& [index, process] : entry->processes) process->kill();
  const bool tokens_old = entry->tokens_until && now >= *entry->tokens_until;
  if (tokens_old && !plan.over && !entry->pod->metadata.deleted)
    if (const auto renewed = co_await prepare_volumes(entry, now); !renewed)
      context_.log.warning("tokens not renewed", {{"cause", renewed.error()}});
  bool soon = false;
  for (const std::size_t index : plan.start)
    if (!entry->gone && !stopping_) soon = co_await start_container(entry, index) || soon;
  co_return soon;
}

Task<Result<void>> PodWorker::write_status(const Entry& entry, controller::Reconcile& context) {
  const Pod& pod = *entry->pod;
  const PodStatus after = pod_status(pod, entry->life, clock_.wall());
  // A pod that is over keeps what it said last, also when the kubelet has started anew.
  if (is_over(pod.status) && !pod.metadata.deleted) co_return Result<void>{};
  CO_TRY(co_await context.writer.update_status({.resource = kube::kPods,
                                                .key = pod.metadata.key(),
                                                .version = pod.metadata.version,
                                                .before = encode(pod.status),
                                                .after = encode(after)}));
  co_return Result<void>{};
}

Task<Result<void>> PodWorker::finish_delete(const Entry& entry) {
  const kube::ObjectMeta& meta = entry->pod->metadata;
  const auto removed = co_await kube::Api<Pod>(context_.client)
                           .remove(meta.key(), {.uid = meta.uid, .grace_seconds = 0});
  const bool gone = !removed && (removed.error().code == Errc::kNotFound ||
                                 removed.error().code == Errc::kConflict);
  if (!removed && !gone) co_return std::unexpected<Error>(removed.error());
  co_return Result<void>{};
}

PodWorker::Entry PodWorker::admit(const std::shared_ptr<const Pod>& pod, WallTime now) {
  const bool mounts_token = isolation_.namespaces && !context_.options.server_url.empty() &&
                            pod->spec.mount_token.value_or(true);
  auto entry = std::make_shared<PodEntry>(
      PodEntry{.pod = mounts_token ? std::make_shared<const Pod>(with_token_volume(*pod)) : pod,
               .folder = PodFolder(context_.options.data_dir, pod->metadata.uid),
               .life = adopt(*pod, now)});
  if (is_over(pod->status) || pod->metadata.deleted) return entry;
  const bool first = !entry->life.started;
  entry->life.address =
      addresses_.take(pod->metadata.uid, pod->status.pod_ip).value_or(std::string(kHostAddress));
  take_gpus(*entry);
  if (first)
    tell(
        *entry, EventType::kNormal, "ImageNotPulled",
        "Images are not pulled here: containers run as processes of this machine, with its files.");
  return entry;
}

// The scheduler counts GPUs as free when a pod is over or gone from the API, and its processes may
// be there a moment longer.
bool PodWorker::room_is_leaving(const Pod& pod) const {
  if (is_over(pod.status) || gpus_of(pod) <= slots_.at(pod.spec.node).free()) return false;
  return std::ranges::any_of(entries_, [&](const auto& item) {
    const auto& [key, entry] = item;
    if (entry->released || entry->pod->spec.node != pod.spec.node) return false;
    const auto live = context_.pods.find(key);
    return !live || live->metadata.uid != entry->pod->metadata.uid || is_over(live->status);
  });
}

void PodWorker::take_gpus(PodEntry& entry) {
  const Pod& pod = *entry.pod;
  const std::int64_t wanted = gpus_of(pod);
  GpuSlots& slots = slots_.at(pod.spec.node);
  const auto taken = slots.take(pod.metadata.uid, wanted);
  if (!taken) {
    entry.life.reason = fmt::format("OutOf{}", kGpuResource);
    entry.life.message =
        fmt::format("Node didn't have enough resource: {}, requested: {}, used: {}, capacity: {}",
                    kGpuResource, wanted, slots.count() - slots.free(), slots.count());
    return;
  }
  std::size_t next = 0;
  for (const Container& container : pod.spec.containers) {
    const auto count = static_cast<std::size_t>(gpus_of(container));
    if (count == 0) continue;
    const auto begin = taken->begin() + static_cast<std::ptrdiff_t>(next);
    entry.gpus[container.name] = {begin, begin + static_cast<std::ptrdiff_t>(count)};
    next += count;
  }
  // Init containers run before the others and may use the same slots.
  for (const Container& container : pod.spec.init_containers)
    if (const auto count = gpus_of(container); count > 0)
      entry.gpus[container.name] = {taken->begin(), taken->begin() + count};
}

void PodWorker::release(PodEntry& entry) {
  if (std::exchange(entry.released, true)) return;
  addresses_.give_back(entry.pod->metadata.uid);
  if (const auto slots = slots_.find(entry.pod->spec.node); slots != slots_.end())
    slots->second.give_back(entry.pod->metadata.uid);
  update_hosts(entry.pod->metadata.ns);
}

Task<void> PodWorker::keep_logs(Entry entry) {
  const auto owner = KeptLogs::owner_of(*entry->pod);
  if (!owner || std::exchange(entry->logs_kept, true)) co_return;
  kube::Discovery discovery(context_.client);
  const OwnerSeen seen = co_await look_at_owner(context_.client, discovery, *owner);
  context_.kept.keep(*entry->pod, entry->folder, seen);
}

Task<bool> PodWorker::forget(ObjectKey key) {
  const Entry entry = entries_.at(key);
  entry->gone = true;
  if (!entry->processes.empty()) {
    for (const auto& [index, process] : entry->processes) process->kill();
    co_return false;
  }
  co_await keep_logs(entry);
  entry->folder.remove();
  entries_.erase(key);
  release(*entry);
  co_return true;
}

std::size_t PodWorker::active() const {
  std::size_t count = 0;
  for (const auto& [key, entry] : entries_) count += entry->processes.size();
  return count;
}

Task<void> PodWorker::stop(Monotonic deadline) {
  // Of every pod's own grace no more is given than leaves time for killing.
  constexpr std::chrono::seconds kForKilling{1};
  const Monotonic begin = clock_.monotonic();
  const Monotonic last = deadline - kForKilling;
  for (const auto& [key, entry] : entries_)
    for (const auto& [index, process] : entry->processes) process->terminate();
  while (active() > 0 && clock_.monotonic() < deadline) {
    Monotonic next = deadline;
    for (const auto& [key, entry] : entries_) {
      if (entry->processes.empty()) continue;
      const Monotonic due = std::min(begin + grace_of(*entry->pod), last);
      if (clock_.monotonic() < due)
        next = std::min(next, due);
      else
        for (const auto& [index, process] : entry->processes) process->kill();
    }
    (void)co_await ended_.wait(clock_, next);
  }
}

}  // namespace amdahl::local
