// Turns what controllers say into few Event objects (E8). Pure; the caller brings the time.
//
// The same text again becomes a series with a count. More than kMessagesPerReason different texts
// of one reason about one object within kSimilarWindow become one event. One object may cause
// kEventBurst writes at once and then one in kEventInterval; what is over is dropped, but counted
// in the series, so that the next write tells.
//
// Thread: one. Lifetime: that of its recorder. Failure: none. Memory: kSubjectsMax entries of each
// sort; the least recently used is forgotten, which at worst starts a new series.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "operator/controller/bounded_cache.hpp"
#include "operator/controller/token_bucket.hpp"
#include "operator/kube/request.hpp"

namespace amdahl::controller {

inline constexpr std::size_t kMessagesPerReason = 10;
inline constexpr std::chrono::seconds kSimilarWindow{600};
inline constexpr double kEventBurst = 25;
inline constexpr std::chrono::seconds kEventInterval{300};
inline constexpr std::size_t kSubjectsMax = 4096;
inline constexpr std::size_t kNoteBytesMax = 1024;
inline constexpr std::size_t kReasonBytesMax = 128;

enum class EventType : std::uint8_t { kNormal, kWarning };
std::string_view name(EventType type);  // "Normal", "Warning"

// The object an event is about.
struct EventSubject {
  std::string api_version{};
  std::string kind{};
  kube::ObjectKey key{};
  std::string uid{};
};

struct EventReport {
  EventSubject subject{};
  EventType type = EventType::kNormal;
  std::string reason{};  // "RankFailed": why
  std::string action{};  // "Restart": what was done about it
  std::string note{};    // for people
};

// One write to the server: the first of a series creates the object, later ones patch its count.
struct EventWrite {
  EventReport report{};
  std::string name{};
  WallTime first{};
  WallTime last{};
  std::int32_t count = 1;
  bool create = true;
};

class EventAggregator {
 public:
  // nullopt: this one is not written.
  std::optional<EventWrite> take(EventReport report, WallTime wall, Monotonic now);

 private:
  struct Similar {
    std::vector<std::size_t> messages;  // hashes; at most kMessagesPerReason
    Monotonic last{};
  };
  struct Series {
    std::string name{};
    WallTime first{};
    Monotonic last{};
    std::int32_t count = 0;
    bool written = false;
  };
  bool too_many_messages(const std::string& reason_key, std::string_view note, Monotonic now);
  Series& count(const std::string& series_key, const EventReport& report, WallTime wall,
                Monotonic now);
  bool allowed(const std::string& subject_key, Monotonic now);

  BoundedCache<TokenBucket> buckets_{kSubjectsMax};
  BoundedCache<Similar> similar_{kSubjectsMax};
  BoundedCache<Series> series_{kSubjectsMax};
  std::uint16_t sequence_ = 0;
};

// At most `bytes_max` bytes, cut between two code points.
std::string cut_utf8(std::string_view text, std::size_t bytes_max);

}  // namespace amdahl::controller
