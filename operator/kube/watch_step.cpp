#include "operator/kube/watch_step.hpp"

#include <algorithm>

#include "base/rules.hpp"
#include "operator/kube/resource_version.hpp"

namespace amdahl::kube {
namespace {

std::chrono::milliseconds backoff(WatchState& state, Monotonic now) {
  if (now - state.last_failure > kBackoffForget) state.failures = 0;
  const std::uint32_t doublings = std::min(state.failures, 16U);
  ++state.failures;
  state.last_failure = now;
  return std::min<std::chrono::milliseconds>(kBackoffMin * (1LL << doublings), kBackoffMax);
}

WatchStep reopen(WatchState state, std::chrono::milliseconds delay = std::chrono::milliseconds{0}) {
  return {.next = std::move(state), .action = WatchAction::kReopen, .delay = delay};
}

WatchStep reopen_later(WatchState state, Monotonic now) {
  const auto delay = backoff(state, now);
  return reopen(std::move(state), delay);
}

WatchPhase list_from(const WatchState& state, std::string floor) {
  if (state.server_streams) return StreamListing{.floor = std::move(floor)};
  return PagedListing{.floor = std::move(floor), .next_page = {}};
}

// A private set that was half filled is worth nothing: whoever lists starts that list again.
void restart_list(WatchState& state) {
  if (auto* paged = std::get_if<PagedListing>(&state.phase)) paged->next_page.clear();
}

// The server no longer keeps what we asked for: take what it has now, consistently (L3).
WatchStep on_gone(WatchState state, Monotonic now) {
  const bool was_watching = std::holds_alternative<Watching>(state.phase);
  state.phase = list_from(state, "");
  // From Watching this is ordinary life after a compaction; a list that is gone again is not.
  return was_watching ? reopen(std::move(state)) : reopen_later(std::move(state), now);
}

// Versions went back: the server was restored from a backup. Nothing we know is true (L4).
WatchStep on_rewind(WatchState state, Monotonic now) {
  state.high_water.clear();
  state.phase = list_from(state, "");
  return reopen_later(std::move(state), now);
}

bool refuses_streaming(Errc code) {
  return code == Errc::kInvalid || code == Errc::kForbidden || code == Errc::kNotFound;
}

WatchStep on_failure(WatchState state, Errc code, bool in_stream, Monotonic now) {
  if (code == Errc::kGone) return on_gone(std::move(state), now);
  if (const auto* listing = std::get_if<StreamListing>(&state.phase)) {
    // An old etcd lets the stream begin and then says that it cannot follow progress (L2).
    if (refuses_streaming(code) || in_stream) {
      state.server_streams = false;
      state.phase = PagedListing{.floor = listing->floor, .next_page = {}};
      return reopen(std::move(state));
    }
  }
  restart_list(state);
  return reopen_later(std::move(state), now);  // the resume version stays (L9)
}

WatchStep on_object(WatchState state, const ObjectEvent& event, Monotonic now) {
  auto* watching = std::get_if<Watching>(&state.phase);
  // Initial events are not ordered by version, so they move nothing (L5).
  if (watching == nullptr) return {.next = std::move(state), .action = WatchAction::kStage};
  if (is_older(event.version, watching->version)) return on_rewind(std::move(state), now);
  watching->version = event.version;
  state.high_water = event.version;
  return {.next = std::move(state), .action = WatchAction::kApply};
}

WatchStep on_bookmark(WatchState state, const Bookmark& mark, Monotonic now) {
  if (is_older(mark.version, state.high_water)) return on_rewind(std::move(state), now);
  if (auto* watching = std::get_if<Watching>(&state.phase)) {
    watching->version = mark.version;
    state.high_water = mark.version;
    return {.next = std::move(state), .action = WatchAction::kAdvance};  // never the store (L6)
  }
  if (!mark.initial_events_end) return {.next = std::move(state)};
  state.phase = Watching{.version = std::string(mark.version)};
  state.high_water = mark.version;
  return {.next = std::move(state), .action = WatchAction::kPublish};
}

WatchStep on_page(WatchState state, const PageRead& page, Monotonic now) {
  if (is_older(page.version, state.high_water)) return on_rewind(std::move(state), now);
  if (!page.next_page.empty()) {
    std::get<PagedListing>(state.phase).next_page = page.next_page;
    return {.next = std::move(state)};
  }
  state.phase = Watching{.version = std::string(page.version)};
  state.high_water = page.version;
  return {.next = std::move(state), .action = WatchAction::kPublish};
}

WatchStep on_end(WatchState state, const Ended& end, Monotonic now) {
  restart_list(state);
  const bool useless = end.lived < kShortLife && !end.any_event;
  if (useless || !std::holds_alternative<Watching>(state.phase))
    return reopen_later(std::move(state), now);
  return reopen(std::move(state));
}

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

}  // namespace

WatchState first_state() {
  // "0" means "whatever the server's cache has": the root of going back in time after a restart.
  return {.phase = StreamListing{.floor = rule_on(Rule::kL1) ? "" : "0"}};
}

WatchStep step(WatchState state, const WatchInput& input, Monotonic now) {
  return std::visit(
      Overloaded{
          [&](const Refused& no) { return on_failure(std::move(state), no.code, false, now); },
          [&](const ErrorEvent& no) { return on_failure(std::move(state), no.code, true, now); },
          [&](const ObjectEvent& event) { return on_object(std::move(state), event, now); },
          [&](const Bookmark& mark) { return on_bookmark(std::move(state), mark, now); },
          [&](const PageRead& page) { return on_page(std::move(state), page, now); },
          [&](const Ended& end) { return on_end(std::move(state), end, now); },
          [&](const Undecodable&) {
            // Skipping it would leave the store wrong for ever; listing again heals or shows it.
            state.phase = list_from(state, state.high_water);
            return reopen_later(std::move(state), now);
          },
          [&](const Audited& audit) {
            if (is_older(audit.version, state.high_water)) return on_rewind(std::move(state), now);
            return WatchStep{.next = std::move(state)};
          },
      },
      input);
}

}  // namespace amdahl::kube
