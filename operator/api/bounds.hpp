// How large the parts of our kinds may be. The tables put these into the schema; whoever writes a
// status keeps to them (fit_status.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace amdahl::api {

inline constexpr std::int64_t kNodesMax = 4096;
inline constexpr std::int64_t kProcessesPerNodeMax = 128;
inline constexpr std::int64_t kRankMax = kNodesMax * kProcessesPerNodeMax - 1;
// What a reader in JavaScript or with doubles still gets exactly.
inline constexpr std::int64_t kIntegerMax = (std::int64_t{1} << 53) - 1;
inline constexpr std::int64_t kCountMax = 1'000'000'000;  // fits int32

inline constexpr std::uint32_t kJobNameMax = 40;  // so that every rank has a DNS name
inline constexpr std::uint32_t kLabelMax = 63;    // a DNS label, or the value of a label
inline constexpr std::uint32_t kSubdomainMax = 253;
inline constexpr std::uint32_t kUriMax = 1024;
inline constexpr std::uint32_t kReasonMax = 64;
inline constexpr std::uint32_t kMessageMax = 512;
inline constexpr std::uint32_t kHintMax = 256;

inline constexpr std::uint32_t kConditionsMax = 16;
inline constexpr std::uint32_t kMetricsMax = 8;
inline constexpr std::uint32_t kAttemptsMax = 10;      // the newest are kept
inline constexpr std::uint32_t kAttemptNodesMax = 8;   // of one attempt
inline constexpr std::uint32_t kPhaseSecondsMax = 16;  // phases of the GPU-second account

inline constexpr std::size_t kStatusBytesMax = std::size_t{32} << 10U;
inline constexpr std::size_t kCrdBytesMax = std::size_t{256} << 10U;  // client-side apply's limit

inline constexpr std::int64_t kMinute = 60;  // bounds of durations are seconds
inline constexpr std::int64_t kHour = 60 * kMinute;
inline constexpr std::int64_t kDay = 24 * kHour;
inline constexpr std::int64_t kYear = 365 * kDay;

// Patterns of the Kubernetes names that our fields hold.
inline constexpr const char* kLabelPattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
inline constexpr const char* kSubdomainPattern =
    R"(^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$)";

}  // namespace amdahl::api
