// Any JSON as a pod of the embedded kubelet, from the bytes of a watch through every step of its
// life: what is decided names containers that exist, is the same when asked twice, and the pod
// ends.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "local/kubelet/pod_status.hpp"
#include "operator/controller/store.hpp"

namespace {

using namespace amdahl::local;  // NOLINT(google-build-using-namespace)
using amdahl::WallTime;

constexpr WallTime kNow{std::chrono::seconds{1'760'000'000}};
constexpr int kStepsMax = 12;

// As a watch brings it: whole, or the parts that can be read.
std::shared_ptr<const Pod> pod_in(std::string text) {
  amdahl::controller::Store<Pod> pods;
  const std::size_t size = text.size();
  text.append(amdahl::kJsonPadding, ' ');
  const amdahl::kube::RawObject raw{.bytes = std::string_view(text).substr(0, size)};
  if (!pods.decode(raw) && !pods.decode_parts(raw)) return nullptr;
  pods.apply(amdahl::kube::EventKind::kAdded);
  std::shared_ptr<const Pod> found;
  pods.for_each([&](const auto& pod) { found = pod; });
  return found;
}

bool same(const PodPlan& a, const PodPlan& b) {
  return a.start == b.start && a.terminate == b.terminate && a.kill_at == b.kill_at &&
         a.kill == b.kill && a.over == b.over && a.reason == b.reason && a.wake == b.wake;
}

PodPlan checked_plan(const Pod& pod, const PodLife& life, WallTime now) {
  PodPlan plan = decide(pod, life, now);
  AMDAHL_CHECK(same(plan, decide(pod, life, now)));
  for (const auto& indexes : {plan.start, plan.terminate})
    for (const std::size_t index : indexes) AMDAHL_CHECK(index < life.containers.size());
  for (const std::size_t index : plan.start) AMDAHL_CHECK(!life.containers[index].active);
  for (const std::size_t index : plan.terminate) AMDAHL_CHECK(life.containers[index].active);
  AMDAHL_CHECK(pod_status(pod, life, now) == pod_status(pod, life, now));
  return plan;
}

// Starts what is to start; what runs ends with `exit_code`.
void live_on(PodLife& life, const PodPlan& plan, WallTime now, int exit_code) {
  if (plan.kill_at) life.kill_at = plan.kill_at;
  if (!plan.reason.empty()) life.reason = plan.reason;
  for (ContainerLife& container : life.containers)
    if (container.active)
      note_end(container, terminated({.exit_code = exit_code}, now, now, "last words"));
  for (const std::size_t index : plan.start) note_start(life.containers[index], "id", now);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto stored = pod_in({reinterpret_cast<const char*>(data), size});
  if (!stored) return 0;
  for (const int exit_code : {0, 1}) {
    Pod pod = *stored;
    PodLife life = adopt(pod, kNow);
    WallTime now = kNow;
    for (int step = 0; step < kStepsMax; ++step) {
      const PodPlan plan = checked_plan(pod, life, now);
      if (plan.over) break;
      if (!life.started) life.started = now;
      live_on(life, plan, now, exit_code);
      now += std::chrono::minutes{1};
    }
    pod.metadata.deleted = now;  // whatever it was, it ends now
    live_on(life, {}, now, exit_code);
    AMDAHL_CHECK(checked_plan(pod, life, now).over);
  }
  return 0;
}
