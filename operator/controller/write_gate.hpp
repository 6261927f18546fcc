// Read your own writes: a reconcile waits until the caches have seen what the last one wrote (W2).
//
// For each owner and kind it keeps the highest resourceVersion a write returned, and drops it as
// soon as the cache of that kind has passed it. Without this a reconcile that follows a write
// closely decides on the world before the write.
//
// Thread: one. Lifetime: that of its controller. Failure: none; versions that cannot be compared,
// and caches that stay behind for kGateWaitMax, end in kLiveRead instead of waiting for ever. (A
// server restored from a backup counts from below and would never pass.) Memory: one entry for each
// owner and kind written to and not yet seen; beyond kGateOwnersMax owners the verdict for new ones
// is kLiveRead.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/function_ref.hpp"
#include "operator/kube/request.hpp"

namespace amdahl::controller {

inline constexpr std::chrono::minutes kGateWaitMax{2};
inline constexpr std::size_t kGateOwnersMax = 100'000;

enum class GateVerdict : std::uint8_t {
  kReady,
  kWait,
  kLiveRead,  // the caches cannot prove it: destructive decisions need live reads (W3)
};

class WriteGate {
 public:
  // The version the cache of a kind has reached: "" before its first sync, nullopt when there is
  // no cache of that kind and so nothing to wait for.
  using CacheVersion = function_ref<std::optional<std::string>(std::string_view kind)>;

  void note(const kube::ObjectKey& owner, std::string_view kind, std::string_view version,
            Monotonic now);
  // Forgets what has been passed; kLiveRead is said once for each write.
  GateVerdict check(const kube::ObjectKey& owner, CacheVersion cache_version, Monotonic now);
  std::size_t owners() const { return owners_.size(); }

 private:
  struct Written {
    std::string kind{};
    std::string version{};  // empty: not comparable
    Monotonic noted_at{};
  };
  static GateVerdict verdict(const Written& written, CacheVersion cache_version, Monotonic now);

  std::map<kube::ObjectKey, std::vector<Written>> owners_;
  bool overflowed_ = false;
};

}  // namespace amdahl::controller
