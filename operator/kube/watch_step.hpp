// A watch as a value: no socket, no clock, no store. The driver (watcher.hpp) feeds what the wire
// said and does what step() returns. Rules L1-L9 of docs/reference/rules.md live here.
//
//                      initial-end bookmark                 last page
//   StreamListing ------------------------------> Watching <----------- PagedListing
//        |   ^                                       |                       ^
//        |   +--- gone, rewound, undecodable --------+                       |
//        +------- the server refuses streaming lists (L2) -------------------+
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace amdahl::kube {

// The first list arrives as events; nothing is published yet. An empty floor asks for a
// consistent read; any other for "not older than" (L1, L3).
struct StreamListing {
  std::string floor = {};
  bool operator==(const StreamListing&) const = default;
};
// The fallback for servers that cannot stream it (L2).
struct PagedListing {
  std::string floor = {};
  std::string next_page = {};  // continue token; empty for the first page
  bool operator==(const PagedListing&) const = default;
};
// Published; version is the resume point.
struct Watching {
  std::string version = {};
  bool operator==(const Watching&) const = default;
};
using WatchPhase = std::variant<StreamListing, PagedListing, Watching>;

struct WatchState {
  WatchPhase phase = StreamListing{};
  std::string high_water = {};  // the newest version ever seen; never asked for less (L3)
  bool server_streams = true;   // cleared when the server refuses a streaming list (L2)
  std::uint32_t failures = 0;   // in a row, for the backoff (L9)
  Monotonic last_failure{};
};

enum class EventKind : std::uint8_t { kAdded, kModified, kDeleted };

// What the wire said.
struct Refused {  // no stream: an HTTP error status, or no connection
  Errc code = Errc::kIo;
};
struct ObjectEvent {
  EventKind kind = EventKind::kAdded;
  std::string_view version = {};
};
struct Bookmark {
  std::string_view version = {};
  bool initial_events_end = false;
};
struct ErrorEvent {  // an ERROR event inside a 200 stream (L7)
  Errc code = Errc::kIo;
};
struct Undecodable {};  // unknown event type, or an object that does not parse (L7)
struct PageRead {
  std::string_view version = {};    // of the list
  std::string_view next_page = {};  // empty: this was the last
};
struct Ended {  // the stream is over, orderly or not
  std::chrono::milliseconds lived{0};
  bool any_event = false;
};
struct Audited {  // the version of a small consistent list (L4)
  std::string_view version = {};
};
using WatchInput =
    std::variant<Refused, ObjectEvent, Bookmark, ErrorEvent, Undecodable, PageRead, Ended, Audited>;

enum class WatchAction : std::uint8_t {
  kContinue,  // nothing to do; read on
  kStage,     // add the object to the private set
  kApply,     // change the store by this event
  kAdvance,   // only the version moves
  kPublish,   // replace the store by the private set
  kReopen,    // drop the stream and the private set, wait `delay`, open what `phase` says
};

struct WatchStep {
  WatchState next;
  WatchAction action = WatchAction::kContinue;
  std::chrono::milliseconds delay{0};  // before jitter; only with kReopen
};

inline constexpr std::chrono::milliseconds kBackoffMin{800};
inline constexpr std::chrono::milliseconds kBackoffMax{30'000};
inline constexpr std::chrono::minutes kBackoffForget{2};
inline constexpr std::chrono::milliseconds kShortLife{1'000};

// The state to start from: a consistent streaming list (L1).
WatchState first_state();
WatchStep step(WatchState state, const WatchInput& input, Monotonic now);

}  // namespace amdahl::kube
