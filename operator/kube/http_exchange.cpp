#include "operator/kube/http_exchange.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstring>

#include "base/check.hpp"

namespace amdahl::kube {
namespace {

// Holds the largest head, so that a full buffer always means progress or an error.
constexpr std::size_t kBufferBytes = kHeaderBytesMax + 1024;
constexpr std::size_t kBodyBytesFirst = std::size_t{16} << 10;

}  // namespace

HttpExchange::HttpExchange(std::shared_ptr<Connection> connection)
    : connection_(std::move(connection)),
      buffer_(std::make_unique_for_overwrite<char[]>(kBufferBytes)) {}

Task<Result<void>> HttpExchange::start(std::string_view wire,
                                       std::function<Result<void>()> may_begin) {
  const auto begin = [this, ask = std::move(may_begin)]() -> Result<void> {
    if (ask) TRY(ask());
    sent_ = true;
    return {};
  };
  auto written = co_await connection_->write_all(wire, begin);
  written_ = written.has_value();
  // A server may refuse a large body with an answer and a close while it is still being sent.
  auto head = written || written.error().code == Errc::kIo ? co_await read_head() : written;
  co_return written || head ? head : written;
}

Result<bool> HttpExchange::fill() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ == kBufferBytes) {
    AMDAHL_CHECK(begin_ > 0);
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  TRY(const auto size, connection_->try_read({buffer_.get() + end_, kBufferBytes - end_}));
  if (!size) return false;
  if (*size == 0) {
    auto finished = framing_.finish();
    if (!finished) return wrap(std::move(finished).error(), "{}", connection_->peer());
    return true;
  }
  end_ += *size;
  bytes_this_turn_ += *size;
  return true;
}

Task<Result<void>> HttpExchange::read_head() {
  while (!framing_.head_done()) {
    CO_TRY(const bool more, fill());
    if (!more) {
      CO_TRY(co_await wait_readable());
      continue;
    }
    auto used = framing_.read_head(buffered());
    if (!used) co_return wrap(std::move(used).error(), "{}", connection_->peer());
    begin_ += *used;
  }
  co_return Result<void>{};
}

Result<std::optional<std::size_t>> HttpExchange::try_read(std::span<char> into) {
  std::size_t total = 0;
  while (total < into.size() && !framing_.body_done()) {
    auto step = framing_.decode_body(buffered(), into.subspan(total));
    if (!step) return wrap(std::move(step).error(), "{}", connection_->peer());
    begin_ += step->consumed;
    total += step->produced;
    if (total == into.size() || framing_.body_done()) break;
    auto more = fill();
    if (!more && total == 0) return std::unexpected<Error>(std::move(more).error());
    if (!more || !*more) break;  // what broke breaks again at the next call
  }
  if (total == 0 && !framing_.body_done()) return std::nullopt;
  return total;
}

Task<Result<void>> HttpExchange::wait_readable() {
  bytes_this_turn_ = 0;
  return connection_->wait_readable();
}

Task<void> HttpExchange::yield() {
  bytes_this_turn_ = 0;
  co_await boost::asio::post(boost::asio::use_awaitable);
}

Task<Result<void>> HttpExchange::read_up_to(std::string& text, std::size_t bytes_max) {
  std::size_t size = 0;
  std::size_t room =
      std::min<std::uint64_t>(framing_.content_length().value_or(kBodyBytesFirst), bytes_max);
  Result<void> state;
  while (state && size < bytes_max && !framing_.body_done()) {
    if (size == room) room = std::min(bytes_max, std::max(kBodyBytesFirst, 2 * size));
    text.resize(room);
    auto piece = try_read({text.data() + size, room - size});
    if (piece) size += piece->value_or(0);
    if (!piece)
      state = std::unexpected<Error>(std::move(piece).error());
    else if (!*piece)
      state = co_await wait_readable();
    else if (turn_is_over())
      co_await yield();
  }
  text.resize(size);
  co_return state;
}

Task<Result<std::string>> HttpExchange::read_all(std::size_t bytes_max) {
  const auto too_large = [&] {
    return fail(Errc::kTooLarge, "{}: the body is over the limit of {} bytes", connection_->peer(),
                bytes_max);
  };
  if (framing_.content_length().value_or(0) > bytes_max) co_return too_large();
  std::string text;
  CO_TRY(co_await read_up_to(text, bytes_max));
  if (!framing_.body_done()) {
    // Exactly at the limit: only the end of the framing may be missing.
    char extra = 0;
    for (;;) {
      CO_TRY(const auto more, try_read({&extra, 1}));
      if (more && *more > 0) co_return too_large();
      if (more) break;
      CO_TRY(co_await wait_readable());
    }
  }
  co_return text;
}

Task<std::string> HttpExchange::read_beginning(std::size_t bytes_max) {
  std::string text;
  (void)co_await read_up_to(text, bytes_max);  // what has arrived is all there is to show
  co_return text;
}

std::shared_ptr<Connection> HttpExchange::take_connection() {
  // Bytes behind the body would be taken for the next response.
  const bool fit = written_ && framing_.head_done() && framing_.body_done() && head().keep_alive &&
                   begin_ == end_;
  return fit ? std::move(connection_) : nullptr;
}

}  // namespace amdahl::kube
