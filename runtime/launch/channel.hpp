// What the processes of the launcher tell each other, one packet a message.
//
// The supervisor (supervisor.hpp) runs the trainer and copies its output; the observer
// (observer.hpp) looks at copies, talks to the trainer and reports; the checkpointer
// (checkpointer.hpp) tells the observer of commits. They share nothing else, so an observer that
// crashes or hangs costs reports and nothing more. Thread: one in each process.
// Failure: send() says whether the other side had room; a side that is gone reads as nullopt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace amdahl::launch {

enum class Message : char {
  // to the observer
  kOut = 'o',        // bytes of standard output
  kErr = 'e',        // bytes of standard error
  kLost = 'l',       // how many bytes were not passed on before the next kOut or kErr
  kAgain = 'a',      // 'o' or 'e': what follows of it repeats its end, from a line's beginning
  kStarted = 's',    // pid of the trainer
  kAsked = 't',      // somebody wants us to end: milliseconds left for the trainer
  kEnded = 'x',      // "code signal bytes why": all is over (bytes: of the largest process)
  kCommitted = 'c',  // of the checkpointer: a helper line, also of a save that failed
  // to the supervisor
  kStart = 'S',      // the trainer may start
  kHold = 'H',       // "1": the trainer listens to us, SIGTERM can wait; "0": it does not
  kTerminate = 'T',  // SIGTERM to the trainer
  kEnd = 'E',        // end, as if SIGTERM had come to us
  kPaused = 'P',     // the trainer ended for a pause that is committed: that is a good end
  kRefuse = 'R',     // exit code 0 is no success: the code to exit with instead
};

inline constexpr std::size_t kPacketBytesMax = std::size_t{32} << 10U;

struct Packet {
  Message kind = Message::kOut;
  std::string_view body = {};  // of the buffer given to receive()
};

class Channel {
 public:
  enum class Sent : std::uint8_t { kYes, kFull, kGone };

  explicit Channel(Fd fd) : fd_(std::move(fd)) {}
  int fd() const { return fd_.get(); }
  void close() { fd_ = Fd(); }
  bool open() const { return static_cast<bool>(fd_); }

  Sent send(Message kind, std::string_view body);
  // Nothing for now: kind of the result is empty. Gone: Errc::kIo.
  Result<std::optional<Packet>> receive();

 private:
  Fd fd_;
  std::string buffer_ = std::string(kPacketBytesMax + 1, '\0');
};

struct ChannelPair {
  Channel first;
  Channel second;
};
Result<ChannelPair> make_channel();

}  // namespace amdahl::launch
