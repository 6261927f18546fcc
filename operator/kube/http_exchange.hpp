// One request and its response on one connection.
//
// Thread: one. Lifetime: one exchange; the connection may be taken out afterwards if it is fit for
// another. Failure: as connection.hpp and http_framing.hpp; sent() and answered() then tell whether
// the request may be repeated (W10).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/task.hpp"
#include "operator/kube/connection.hpp"
#include "operator/kube/http_framing.hpp"

namespace amdahl::kube {

// Read this much without a pause, then let others have their turn of the loop.
inline constexpr std::size_t kBytesPerTurn = std::size_t{256} << 10;

class HttpExchange {
 public:
  explicit HttpExchange(std::shared_ptr<Connection> connection);

  // Writes the request and reads the head of the response.
  // tidy: allow(coroutine-parameter) awaited in place by the transport that owns the bytes
  Task<Result<void>> start(std::string_view wire, std::function<Result<void>()> may_begin);
  const ResponseHead& head() const { return framing_.head(); }

  // All of the body; Errc::kTooLarge above bytes_max, before more than that is kept.
  Task<Result<std::string>> read_all(std::size_t bytes_max);
  // The beginning of the body, when it is only text for people. Broken connections end it early.
  Task<std::string> read_beginning(std::size_t bytes_max);
  // Body bytes that are there now, as many as fit; 0 at the end; no value: none yet.
  Result<std::optional<std::size_t>> try_read(std::span<char> into);
  // Until there may be more to read; without need, only often enough for others to get a turn.
  Task<Result<void>> wait_readable();
  bool turn_is_over() const { return bytes_this_turn_ >= kBytesPerTurn; }
  Task<void> yield();

  bool sent() const { return sent_; }  // some byte of the request may have left
  bool answered() const { return framing_.started(); }
  // The connection, if the response is complete and another request may follow; else null.
  std::shared_ptr<Connection> take_connection();
  const Connection& connection() const { return *connection_; }
  const std::shared_ptr<Connection>& shared_connection() const { return connection_; }

 private:
  std::string_view buffered() const { return {buffer_.get() + begin_, end_ - begin_}; }
  // Reads more behind what is buffered: true if there was some, false if nothing is there now.
  Result<bool> fill();
  Task<Result<void>> read_head();
  // Fills text up to bytes_max, or to the end of the body.
  Task<Result<void>> read_up_to(std::string& text, std::size_t bytes_max);

  std::shared_ptr<Connection> connection_;
  ResponseFraming framing_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t bytes_this_turn_ = 0;
  bool sent_ = false;
  bool written_ = false;  // all of the request has left
};

}  // namespace amdahl::kube
