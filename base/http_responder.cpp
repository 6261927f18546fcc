#include <array>

#include "base/http_session.hpp"

namespace amdahl {
namespace {
constexpr std::size_t kWriteBytes = 256 * 1024;  // each piece has the whole write time
}

Result<std::string> HttpSession::render(const HttpResponse& response,
                                        std::optional<std::size_t> body_bytes) {
  if (answer_ != Answer::kNone) return fail(Errc::kInvalid, "answer: the request has one already");
  last_ = last_ || host_.stopping;
  return render_http_head(response,
                          {.http_1_0 = http_1_0_, .close = last_, .body_bytes = body_bytes},
                          host_.clock.wall());
}

Error HttpSession::broken(Error error) {
  answer_ = Answer::kBroken;
  if (!watchdog_.expired()) return error;
  return {.code = Errc::kTimeout, .context = "answer: the client reads too slowly"};
}

Task<Result<void>> HttpSession::send(std::string head, std::string_view body) {
  do {
    const std::string_view piece = body.substr(0, kWriteBytes);
    const std::array<std::string_view, 2> pieces = {head, piece};
    watchdog_.arm(host_.limits.write_time);
    sending_ = true;
    auto sent = co_await connection_->write(pieces);
    sending_ = false;
    if (!sent) co_return std::unexpected<Error>(broken(std::move(sent).error()));
    head.clear();
    body.remove_prefix(piece.size());
  } while (!body.empty());
  watchdog_.disarm();
  co_return Result<void>{};
}

Task<Result<void>> HttpSession::respond(HttpResponse response) {
  const bool has_body = http_status_has_body(response.status);
  CO_TRY(auto head, render(response, response.body.size()));
  answer_ = Answer::kBroken;  // until the last byte is out
  const std::string_view body = has_body && !head_only_ ? response.body : std::string_view();
  CO_TRY(co_await send(std::move(head), body));
  answer_ = Answer::kComplete;
  co_return Result<void>{};
}

Task<Result<void>> HttpSession::start_stream(HttpResponse head) {
  last_ = true;
  CO_TRY(auto text, render(head, std::nullopt));
  answer_ = Answer::kStreaming;
  CO_TRY(co_await send(std::move(text), ""));
  stream_task_ = host_.tasks.spawn("http stream", watch_for_close(shared_from_this()));
  co_return Result<void>{};
}

Task<Result<void>> HttpSession::write(std::string chunk) {
  if (answer_ != Answer::kStreaming) co_return fail(Errc::kIo, "answer: no stream is open");
  if (chunk.empty() || head_only_) co_return Result<void>{};
  if (http_1_0_) co_return co_await send("", chunk);
  std::string head = fmt::format("{:x}\r\n", chunk.size());
  chunk += "\r\n";
  co_return co_await send(std::move(head), chunk);
}

Task<Result<void>> HttpSession::finish() {
  if (answer_ != Answer::kStreaming) co_return fail(Errc::kIo, "answer: no stream is open");
  if (!http_1_0_ && !head_only_) CO_TRY(co_await send("0\r\n\r\n", ""));
  answer_ = Answer::kComplete;
  host_.tasks.stop(stream_task_);
  co_return Result<void>{};
}

}  // namespace amdahl
