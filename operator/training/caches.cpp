#include "operator/training/caches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace amdahl::training {

void OptionalSource::on_problem(const Error& error) {
  if (error.code != Errc::kNotFound && error.code != Errc::kForbidden) return;
  refused_ = true;
  version_then_ = store_.version();
}

std::vector<kube::ObjectKey> GroupNews::operator()(const controller::Change& change) {
  if (!change.controller || change.controller->kind != kTrainingJobs.kind) return {};
  std::vector<kube::ObjectKey> owner{{.ns = change.key.ns, .name = change.controller->name}};
  const auto group = groups_.find(change.key);
  if (!group || change.type == controller::ChangeType::kDeleted) {
    last_.erase(change.key);
    return owner;
  }
  std::string reasons;
  for (const kube::Condition& condition : group->status.conditions)
    reasons += fmt::format("{}{}{} ", condition.type, static_cast<int>(condition.status),
                           condition.reason);
  std::string now = fmt::format(
      "{} {} {} {} {} {} {} {} {}", group->metadata.uid, group->metadata.deleted.has_value(),
      enum_name(group->status.phase), group->status.running, group->status.succeeded,
      group->status.failed, group->spec.members_min, group->spec.queue, reasons);
  std::string& last = last_[change.key];
  if (last == now) return {};
  last = std::move(now);
  return owner;
}

namespace {

// Those that a rule of the diagnosis reads; a cluster is full of others.
bool is_evidence(const std::string& reason) {
  constexpr auto kReasons = std::to_array<std::string_view>(
      {"FailedMount", "FailedAttachVolume", "OOMKilling", "SystemOOM"});
  return std::ranges::find(kReasons, reason) != kReasons.end();
}

// An API server takes an event about a node in any namespace; kubelets write theirs in this one.
constexpr std::string_view kNamespaceOfNodes = "default";

std::optional<std::string> key_of_node(const kube::Event& event) {
  const bool of_memory = event.reason == "OOMKilling" || event.reason == "SystemOOM";
  if (event.regarding.kind != "Node" || !of_memory) return std::nullopt;
  if (event.metadata.ns != kNamespaceOfNodes) return std::nullopt;
  return event.regarding.name;
}

}  // namespace

std::string event_key(const kube::ObjectKey& pod, std::string_view uid) {
  return fmt::format("{}/{}/{}", pod.ns, pod.name, uid);
}

// Anybody who may write events in a namespace can write them about its pods, and only about those.
std::optional<std::string> Caches::key_of_pod(const kube::Event& event) const {
  if (event.regarding.kind != "Pod" || !is_evidence(event.reason)) return std::nullopt;
  if (event.regarding.uid.empty()) return std::nullopt;
  std::string key =
      event_key({.ns = event.metadata.ns, .name = event.regarding.name}, event.regarding.uid);
  if (!pods.synced()) return key;  // may be ours
  const auto pod = pods.find({.ns = event.metadata.ns, .name = event.regarding.name});
  if (!pod || pod->metadata.uid != event.regarding.uid) return std::nullopt;
  return key;
}

Caches::Caches()
    : pod_events([this](const kube::Event& event) { return key_of_pod(event); }),
      node_events(key_of_node) {
  pods.add_index("job", [](const GangPod& pod) -> std::vector<std::string> {
    const auto owner = controller::controller_of(pod);
    if (!owner || owner->kind != kTrainingJobs.kind) return {};
    return {fmt::format("{}/{}", pod.metadata.ns, owner->name)};
  });
}

}  // namespace amdahl::training
