#include "operator/training/caches.hpp"

#include <fmt/format.h>

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

Caches::Caches() {
  pods.add_index("job", [](const GangPod& pod) -> std::vector<std::string> {
    const auto owner = controller::controller_of(pod);
    if (!owner || owner->kind != kTrainingJobs.kind) return {};
    return {fmt::format("{}/{}", pod.metadata.ns, owner->name)};
  });
}

}  // namespace amdahl::training
