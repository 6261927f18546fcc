// Volcano: one PodGroup, all of its pods at once or none.
//
// Facts that shape this file: the PodGroup has no status subresource, so only its spec is sent;
// minMember counts pods that are created together, which here is all of them; with minResources the
// queue holds the group Pending, without it pods are seen by a cluster autoscaler at once; the
// annotation scheduling.k8s.io/group-name alone makes a pod a member.

#include <nlohmann/json.hpp>

#include "operator/api/names.hpp"
#include "operator/training/gang_backend.hpp"
#include "operator/training/pod_resources.hpp"

namespace amdahl::training {
namespace {

constexpr const char* kGroupName = "scheduling.k8s.io/group-name";

Json spec_of(const Situation& s) {
  const api::SchedulingSpec& scheduling = s.spec.scheduling;
  Json spec{{"minMember", s.view.desired}, {"queue", scheduling.queue}};
  if (!scheduling.priority_class.empty()) spec["priorityClassName"] = scheduling.priority_class;
  if (scheduling.admission == api::Admission::kFixed) {
    Json resources = Json::object();
    for (const auto& [name, amount] : pod_requests(s.spec.pod_template, s.view.desired))
      resources[name] = amount.to_string();
    spec["minResources"] = std::move(resources);
  }
  if (scheduling.network_topology) {
    spec["networkTopology"] = {{"mode", enum_name(scheduling.network_topology->mode)}};
    if (const auto tier = scheduling.network_topology->highest_tier_allowed)
      spec["networkTopology"]["highestTierAllowed"] = *tier;
  }
  return spec;
}

bool same_topology(const std::optional<kube::NetworkTopology>& has,
                   const std::optional<api::NetworkTopology>& wants) {
  if (!has || !wants) return has.has_value() == wants.has_value();
  return has->mode == enum_name(wants->mode) &&
         has->highest_tier_allowed == wants->highest_tier_allowed;
}

// What Volcano says about a group it cannot place.
std::optional<api::PendingStatus> unschedulable(const kube::PodGroup& group) {
  for (const kube::Condition& condition : group.status.conditions)
    if (condition.type == "Unschedulable" && condition.status == kube::ConditionStatus::kTrue)
      return api::PendingStatus{
          .reason = condition.reason.empty() ? "Unschedulable" : condition.reason,
          .message = condition.message};
  return std::nullopt;
}

class Volcano final : public GangBackend {
 public:
  std::optional<Json> group(const Situation& s) const override {
    if (!s.seen.volcano_served) return std::nullopt;
    const std::string& job = s.job().metadata.name;
    return Json{
        {"metadata", {{"name", api::pod_group_name(job)}, {"labels", {{api::label::kJob, job}}}}},
        {"spec", spec_of(s)}};
  }

  bool outdated(const Situation& s) const override {
    const kube::PodGroupSpec& has = s.seen.group->spec;
    const api::SchedulingSpec& wants = s.spec.scheduling;
    return has.members_min != s.view.desired || has.queue != wants.queue ||
           has.priority_class != wants.priority_class ||
           has.resources_min.empty() != (wants.admission != api::Admission::kFixed) ||
           !same_topology(has.network_topology, wants.network_topology);
  }

  GangState state(const Situation& s) const override {
    if (!s.seen.volcano_served)
      return {.may_create_pods = false,
              .pending = {{.reason = "VolcanoMissing",
                           .message = "the cluster does not serve scheduling.volcano.sh: install "
                                      "Volcano, or set scheduling.gang to None"}}};
    if (s.seen.queue == QueueState::kMissing)
      return refused_by_queue(s, "QueueMissing", "does not exist");
    if (s.seen.queue == QueueState::kClosed) return refused_by_queue(s, "QueueClosed", "is closed");
    if (!has_group(s)) return {};
    GangState state{.in_queue = true, .pending = unschedulable(*s.seen.group)};
    const bool fixed = s.spec.scheduling.admission == api::Admission::kFixed;
    const kube::PodGroupPhase phase = s.seen.group->status.phase;
    state.may_create_pods = !fixed || (phase != kube::PodGroupPhase::kPending &&
                                       phase != kube::PodGroupPhase::kUnknown);
    if (!state.may_create_pods && !state.pending)
      state.pending = {
          .reason = "WaitingInQueue",
          .message = fmt::format("queue {} has not let the gang in yet", s.spec.scheduling.queue)};
    return state;
  }

  std::string_view scheduler() const override { return "volcano"; }

  void join(Json& pod, const TrainingJob& job) const override {
    pod["metadata"]["annotations"][kGroupName] = api::pod_group_name(job.metadata.name);
  }

 private:
  // Volcano's admission refuses new groups there; one that exists already stays in.
  static GangState refused_by_queue(const Situation& s, const char* reason, const char* what) {
    if (has_group(s)) return {.in_queue = true};
    return {.may_create_pods = false,
            .pending = {{.reason = reason,
                         .message = fmt::format("queue {} {}", s.spec.scheduling.queue, what)}}};
  }
};

}  // namespace

const GangBackend& volcano_backend() {
  static const Volcano backend;
  return backend;
}

}  // namespace amdahl::training
