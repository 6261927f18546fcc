#include "runtime/launch/log_feed.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace amdahl::launch {

void LogFeed::event(Message kind, std::string body) {
  if (!channel_.open() || events_.size() >= kEventsMax) return;
  events_.emplace_back(kind, std::move(body));
  (void)flush();
}

bool LogFeed::flush() {
  bool sent = false;
  while (!events_.empty()) {
    if (channel_.send(events_.front().first, events_.front().second) != Channel::Sent::kYes) break;
    events_.pop_front();
    sent = true;
  }
  return sent;
}

bool LogFeed::hand_over(Message kind, std::string_view bytes) {
  if (!events_.empty()) return false;
  if (lost_bytes_ > 0) {
    if (channel_.send(Message::kLost, fmt::format("{}", lost_bytes_)) != Channel::Sent::kYes)
      return false;
    lost_bytes_ = 0;
  }
  return channel_.send(kind, bytes) == Channel::Sent::kYes;
}

void LogFeed::copied(Message kind, std::string_view bytes) {
  if (!channel_.open()) return;
  Tail& tail = tail_of(kind);
  tail.all += bytes.size();
  tail.bytes.append(bytes);
  // Rarely, because it moves all of it.
  if (tail.bytes.size() > 2 * kTailBytes) tail.bytes.erase(0, tail.bytes.size() - kTailBytes);
  if (hand_over(kind, bytes)) {
    tail.taken += bytes.size();
  } else {
    tail.taken = 0;
    lost_bytes_ += bytes.size();
  }
}

void LogFeed::repeat(Message kind) {
  const Tail& tail = tail_of(kind);
  std::string_view end = tail.bytes;
  end.remove_prefix(end.size() - std::min(end.size(), kTailBytes));
  // From the beginning of a line, so that nothing looks like one that is none.
  if (end.size() < tail.all) end.remove_prefix(std::min(end.find('\n'), end.size() - 1) + 1);
  event(Message::kAgain, std::string(1, static_cast<char>(kind)));
  for (; !end.empty(); end.remove_prefix(std::min(end.size(), kPacketBytesMax)))
    event(kind, std::string(end.substr(0, kPacketBytesMax)));
}

void LogFeed::finish() {
  const bool missed = std::ranges::any_of(tails_, [](const Tail& tail) {
    return tail.taken < std::min<std::uint64_t>(tail.all, kTailBytes);
  });
  if (!missed) return;
  if (lost_bytes_ > 0) event(Message::kLost, fmt::format("{}", lost_bytes_));
  // Both, in this order: a failure is the last thing that a trainer writes, and it goes to standard
  // error; steps that are read after it would say that it was survived.
  repeat(Message::kOut);
  repeat(Message::kErr);
}

}  // namespace amdahl::launch
