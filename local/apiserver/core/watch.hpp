// A watch: a position in the shared history, turned into lines when somebody asks.
//
// The stream holds no events. A reader that falls behind what the history keeps gets an ERROR event
// with 410 and the end. Thread and lifetime: those of the ServerState. Failure: in the stream, as
// the real server does once a watch was accepted.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "local/apiserver/core/read.hpp"
#include "local/apiserver/core/render.hpp"
#include "local/apiserver/core/server_state.hpp"

namespace amdahl::local {

inline constexpr std::size_t kFrameBytesTarget = 64U << 10U;
inline constexpr std::size_t kFrameEventsMax = 1'000;  // looked at, for one frame

class ObjectWatch final : public WatchStream {
 public:
  struct Plan {
    ResourceInfo info = {};
    ResourceId resource = 0;
    Selection selection = {};
    RenderAs as = {};
    bool bookmarks = false;
    bool initial = false;       // first what is there, as ADDED
    bool initial_end = false;   // and a bookmark after it
    std::uint64_t version = 0;  // events after this one
    WallTime ends{};
  };
  ObjectWatch(const ServerState& state, Plan plan);
  Next next() override;

 private:
  Next initial_events();
  Next live_events();
  Next idle();
  Next failed(const Status& status);
  void add_event(std::string& bytes, std::string_view type, const StoredObject& object);
  void add_change(std::string& bytes, const Event& event);
  std::string bookmark(bool initial_end);

  const ServerState& state_;
  Plan plan_;
  std::string start_;  // of the initial events: the next key
  WallTime next_bookmark_{};
  bool ended_ = false;
};

Outcome<Reply> watch(ServerState& state, Request& request);

}  // namespace amdahl::local
