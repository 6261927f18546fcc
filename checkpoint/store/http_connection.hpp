// One connection to a store's server, with or without TLS: requests and answers, one at a time.
//
// Calls block. Bodies are sent from where they lie. Every step (look a name up, connect, shake
// hands, send a piece, receive a piece) has a deadline of its own besides the call's.
//
// Thread: one at a time. Lifetime: the clock and the TLS context outlive it. Failure: kIo when it
// breaks or makes no progress, kTls when the peer cannot be verified, kCorrupt for what is no HTTP,
// kTooLarge, kTimeout, kCancelled. After any failure it is of no more use.
#pragma once

#include <memory>
#include <span>

#include "base/clock.hpp"
#include "checkpoint/store/http_values.hpp"
#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kAnswerBytesMax = std::size_t{8} << 20U;  // kept as text
inline constexpr std::size_t kAnswerHeadBytesMax = std::size_t{64} << 10U;

struct StepTimes {
  std::chrono::milliseconds connect{10'000};  // for each address; and for TLS
  std::chrono::milliseconds progress{60'000};
};

// Whom to trust. Thread: any.
class TlsTrust {
 public:
  // A file with certificates; empty: those of the system.
  static Result<std::shared_ptr<TlsTrust>> load(const std::string& ca_file);
  TlsTrust();
  ~TlsTrust();
  TlsTrust(const TlsTrust&) = delete;
  TlsTrust& operator=(const TlsTrust&) = delete;

  struct State;

 private:
  friend class HttpConnection;
  std::unique_ptr<State> state_;
};

class HttpConnection {
 public:
  struct Settings {
    Clock& clock;
    Endpoint endpoint = {};
    std::shared_ptr<TlsTrust> trust = {};
    StepTimes times = {};
  };
  static Result<std::unique_ptr<HttpConnection>> open(Settings settings, const StoreCall& call);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // The body of a 200 or 206 goes into `into`, if that is not empty, and must not be longer.
  Result<StoreAnswer> exchange(const StoreRequest& request, std::span<std::byte> into,
                               const StoreCall& call);
  // Nobody has closed it, and nothing came unasked.
  bool usable();
  const Endpoint& endpoint() const;
  Monotonic idle_since() const;

 private:
  struct State;
  explicit HttpConnection(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace amdahl::checkpoint
