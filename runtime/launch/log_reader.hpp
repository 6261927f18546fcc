// The observer's side of log_feed.hpp: packets with output in, facts out.
//
// Thread: one. Failure: none; a packet that carries no output is none of its business.
#pragma once

#include <cstdint>

#include "runtime/launch/channel.hpp"
#include "runtime/launch/log_scanner.hpp"

namespace amdahl::launch {

class LogReader {
 public:
  // False: the packet is about something else.
  bool take(const Packet& packet, LogScanner::Sink sink);
  void finish(LogScanner::Sink sink);  // no more comes

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t bytes_unread() const { return bytes_unread_; }

 private:
  LogScanner& scanner_of(Message kind) { return kind == Message::kOut ? out_ : err_; }

  LogScanner out_;
  LogScanner err_;
  std::uint64_t bytes_ = 0;
  std::uint64_t bytes_unread_ = 0;
};

}  // namespace amdahl::launch
