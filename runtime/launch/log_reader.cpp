#include "runtime/launch/log_reader.hpp"

#include "runtime/launch/text_scan.hpp"

namespace amdahl::launch {

bool LogReader::take(const Packet& packet, LogScanner::Sink sink) {
  std::string_view rest = packet.body;
  switch (packet.kind) {
    case Message::kOut:
    case Message::kErr:
      bytes_ += packet.body.size();
      scanner_of(packet.kind).feed(packet.body, sink);
      return true;
    case Message::kLost:
      bytes_unread_ += static_cast<std::uint64_t>(take_count(rest).value_or(0));
      out_.gap();
      err_.gap();
      return true;
    case Message::kAgain:
      if (!rest.empty()) scanner_of(static_cast<Message>(rest[0])).again();
      return true;
    default:
      return false;
  }
}

void LogReader::finish(LogScanner::Sink sink) {
  out_.finish(sink);
  err_.finish(sink);
}

}  // namespace amdahl::launch
