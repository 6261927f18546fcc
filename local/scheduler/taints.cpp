// Taints and tolerations; a node that is cordoned or not ready counts as tainted.
#include <fmt/format.h>

#include <algorithm>

#include "local/scheduler/fit.hpp"

namespace amdahl::local::scheduling {
namespace {

constexpr std::string_view kNoSchedule = "NoSchedule";
constexpr std::string_view kNoExecute = "NoExecute";
constexpr std::string_view kPreferNoSchedule = "PreferNoSchedule";

bool tolerates_taint(const PodView& pod, const kube::Taint& taint) {
  return std::ranges::any_of(pod.tolerations, [&](const Toleration& one) {
    if (!one.effect.empty() && one.effect != taint.effect) return false;
    if (!one.key.empty() && one.key != taint.key) return false;
    if (one.op == "Exists") return true;
    return !one.key.empty() && (one.op.empty() || one.op == "Equal") && one.value == taint.value;
  });
}

}  // namespace

bool tolerates(const PodView& pod, const NodeView& node, Unfit* unfit) {
  const kube::Taint cordoned{.key = "node.kubernetes.io/unschedulable",
                             .effect = std::string(kNoSchedule)};
  if (node.unschedulable && !tolerates_taint(pod, cordoned)) {
    if (unfit != nullptr) unfit->add("node(s) were unschedulable");
    return false;
  }
  const auto refuse = [&](const kube::Taint& taint) {
    if (tolerates_taint(pod, taint)) return false;
    if (unfit != nullptr)
      unfit->add(fmt::format("node(s) had untolerated taint {{{}: {}}}", taint.key, taint.value));
    return true;
  };
  const kube::Taint not_ready{.key = "node.kubernetes.io/not-ready",
                              .effect = std::string(kNoSchedule)};
  if (!node.ready && refuse(not_ready)) return false;
  return std::ranges::none_of(node.taints, [&](const kube::Taint& taint) {
    const bool hard = taint.effect == kNoSchedule || taint.effect == kNoExecute;
    return hard && refuse(taint);
  });
}

std::int64_t disliked_taints(const PodView& pod, const NodeView& node) {
  return std::ranges::count_if(node.taints, [&](const kube::Taint& taint) {
    return taint.effect == kPreferNoSchedule && !tolerates_taint(pod, taint);
  });
}

}  // namespace amdahl::local::scheduling
