// What the supervisor tells the observer: events, which wait for room, and copies of the trainer's
// output, which do not.
//
// An observer that is slow misses output, but never its end: of each stream the last kTailBytes are
// kept, and finish() hands them over again if something of them was missed. So the failure that
// ends a flood of lines is read, however slow the reader is. Thread: one; nothing blocks. Lifetime:
// the channel outlives it. Failure: none; with the other side gone all is dropped.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/launch/channel.hpp"

namespace amdahl::launch {

class LogFeed {
 public:
  static constexpr std::size_t kTailBytes = std::size_t{64} << 10U;  // of each stream
  static constexpr std::size_t kEventsMax = 64;                      // that wait for room

  explicit LogFeed(Channel& channel) : channel_(channel) {}

  void event(Message kind, std::string body);
  // Sends events that wait; true when one has left.
  bool flush();
  bool waiting() const { return !events_.empty(); }
  void clear() { events_.clear(); }

  // `kind`: kOut or kErr.
  void copied(Message kind, std::string_view bytes);
  // No more output comes.
  void finish();

 private:
  struct Tail {
    std::string bytes = {};
    std::uint64_t all = 0;    // bytes of the stream
    std::uint64_t taken = 0;  // without a gap, at its end
  };
  Tail& tail_of(Message kind) { return tails_[kind == Message::kOut ? 0 : 1]; }
  bool hand_over(Message kind, std::string_view bytes);
  void repeat(Message kind);

  Channel& channel_;
  std::deque<std::pair<Message, std::string>> events_;
  std::uint64_t lost_bytes_ = 0;  // that the observer has not heard of
  std::array<Tail, 2> tails_;
};

}  // namespace amdahl::launch
