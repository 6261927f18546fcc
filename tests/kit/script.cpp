// The parts of scripted_server.hpp that open no socket.

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cctype>

#include "tests/kit/script_steps.hpp"

namespace amdahl::testkit {
namespace asio = boost::asio;

namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string header_of(std::string_view head, std::string_view name) {
  for (std::size_t at = head.find("\r\n"); at + 2 < head.size();) {
    const std::string_view line = head.substr(at + 2, head.find("\r\n", at + 2) - at - 2);
    if (const auto colon = line.find(':');
        colon != std::string_view::npos && same_name(line.substr(0, colon), name)) {
      const auto begin = line.find_first_not_of(' ', colon + 1);
      return begin == std::string_view::npos ? "" : std::string(line.substr(begin));
    }
    at += 2 + line.size();
  }
  return {};
}

}  // namespace

struct Gate::State {
  bool open = false;
  std::vector<std::weak_ptr<asio::steady_timer>> waiting;
};

Gate::Gate() : state_(std::make_shared<State>()) {}
Gate::~Gate() = default;

void Gate::open() {
  state_->open = true;
  for (const auto& waiting : state_->waiting)
    if (const auto timer = waiting.lock()) timer->cancel();
  state_->waiting.clear();
}

Task<void> Gate::wait() {
  const auto state = state_;
  if (state->open) co_return;
  const auto timer = std::make_shared<asio::steady_timer>(co_await asio::this_coro::executor,
                                                          asio::steady_timer::time_point::max());
  state->waiting.push_back(timer);
  (void)co_await timer->async_wait(kTuple);
}

Script::Script() = default;
Script::~Script() = default;
Script::Script(const Script&) = default;
Script& Script::operator=(const Script&) = default;

Script& Script::expect() {
  return steps_.emplace_back(Expect{}), *this;
}
Script& Script::reply(std::function<std::string(const ReceivedRequest&)> answer) {
  return steps_.emplace_back(Reply{std::move(answer)}), *this;
}
Script& Script::send(std::string bytes) {
  return steps_.emplace_back(Send{std::move(bytes), 0}), *this;
}
Script& Script::send_in_pieces(std::string bytes, std::size_t piece) {
  return steps_.emplace_back(Send{std::move(bytes), piece}), *this;
}
Script& Script::send_zeros(std::uint64_t count) {
  return steps_.emplace_back(SendZeros{count}), *this;
}
Script& Script::delay(std::chrono::nanoseconds time) {
  return steps_.emplace_back(Delay{time}), *this;
}
Script& Script::wait_for(std::shared_ptr<Gate> gate) {
  return steps_.emplace_back(Wait{std::move(gate)}), *this;
}
Script& Script::call(std::function<void()> function) {
  return steps_.emplace_back(Call{std::move(function)}), *this;
}
Script& Script::start_tls(std::shared_ptr<TlsIdentity> identity) {
  return steps_.emplace_back(StartTls{std::move(identity)}), *this;
}
Script& Script::close() {
  return steps_.emplace_back(Close{}), *this;
}
Script& Script::reset() {
  return steps_.emplace_back(Reset{}), *this;
}
Script& Script::silence() {
  return steps_.emplace_back(Silence{}), *this;
}
Script& Script::forever() {
  return steps_.emplace_back(Forever{}), *this;
}

std::string ReceivedRequest::header(std::string_view name) const {
  return header_of(head, name);
}

std::string http_response(int status, std::string_view body, std::string_view extra_headers) {
  return fmt::format(
      "HTTP/1.1 {} Text\r\nContent-Type: application/json\r\nContent-Length: {}\r\n"
      "{}\r\n{}",
      status, body.size(), extra_headers, body);
}
std::string http_ok(std::string_view body) {
  return http_response(200, body);
}
std::string chunked_head() {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
}
std::string chunk(std::string_view data) {
  return fmt::format("{:x}\r\n{}\r\n", data.size(), data);
}

}  // namespace amdahl::testkit
