#include "operator/controller/write_gate.hpp"

#include <algorithm>

#include "base/rules.hpp"
#include "operator/kube/resource_version.hpp"

namespace amdahl::controller {

void WriteGate::note(const kube::ObjectKey& owner, std::string_view kind, std::string_view version,
                     Monotonic now) {
  auto place = owners_.find(owner);
  if (place == owners_.end()) {
    overflowed_ = owners_.size() >= kGateOwnersMax;
    if (overflowed_) return;
    place = owners_.try_emplace(owner).first;
  }
  std::vector<Written>& kinds = place->second;
  auto written = std::ranges::find(kinds, kind, &Written::kind);
  if (written == kinds.end())
    written = kinds.insert(kinds.end(), Written{.kind = std::string(kind), .version = "0"});
  written->noted_at = now;
  const bool comparable = kube::is_version(version) && !written->version.empty();
  if (!comparable) {
    written->version.clear();
  } else if (written->version == "0" || kube::is_older(written->version, version)) {
    written->version = version;
  }
}

GateVerdict WriteGate::check(const kube::ObjectKey& owner, CacheVersion cache_version,
                             Monotonic now) {
  if (!rule_on(Rule::kW2)) return GateVerdict::kReady;
  const auto place = owners_.find(owner);
  if (place == owners_.end()) return overflowed_ ? GateVerdict::kLiveRead : GateVerdict::kReady;
  GateVerdict worst = GateVerdict::kReady;
  bool waiting = false;
  std::erase_if(place->second, [&](const Written& written) {
    const GateVerdict one = verdict(written, cache_version, now);
    if (one == GateVerdict::kWait) waiting = true;
    if (one == GateVerdict::kLiveRead) worst = one;
    return one == GateVerdict::kReady;
  });
  if (waiting) return GateVerdict::kWait;  // and kLiveRead is said when the wait is over
  if (worst == GateVerdict::kLiveRead) place->second.clear();
  if (place->second.empty()) owners_.erase(place);
  return worst;
}

GateVerdict WriteGate::verdict(const Written& written, CacheVersion cache_version, Monotonic now) {
  const std::optional<std::string> reached = cache_version(written.kind);
  if (!reached) return GateVerdict::kReady;
  if (written.version.empty() || now >= written.noted_at + kGateWaitMax)
    return GateVerdict::kLiveRead;
  if (reached->empty()) return GateVerdict::kWait;
  const auto order = kube::compare_versions(*reached, written.version);
  if (!order) return GateVerdict::kLiveRead;
  return *order < 0 ? GateVerdict::kWait : GateVerdict::kReady;
}

}  // namespace amdahl::controller
