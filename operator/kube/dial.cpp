#include "operator/kube/dial.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <vector>

#include "base/deadline.hpp"

namespace amdahl::kube {
namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

// getaddrinfo runs in a thread of Asio's and cannot be stopped, so whoever asked only waits for a
// timer: a stopped task leaves at once, and the answer finds nobody.
struct Lookup {
  explicit Lookup(const asio::any_io_executor& executor)
      : resolver(executor), done(executor, asio::steady_timer::time_point::max()) {}
  tcp::resolver resolver;
  asio::steady_timer done;
  bool ended = false;
  error_code error;
  std::vector<tcp::endpoint> endpoints;
};

Task<Result<std::vector<tcp::endpoint>>> resolve(std::string host, std::uint16_t port) {
  error_code not_an_address;
  const auto address = asio::ip::make_address(host, not_an_address);
  if (!not_an_address) co_return std::vector<tcp::endpoint>{{address, port}};
  const auto lookup = std::make_shared<Lookup>(co_await asio::this_coro::executor);
  lookup->resolver.async_resolve(
      host, std::to_string(port),
      [lookup](error_code error, const tcp::resolver::results_type& found) {
        lookup->ended = true;
        lookup->error = error;
        for (const auto& entry : found)
          if (lookup->endpoints.size() < kAddressesMax)
            lookup->endpoints.push_back(entry.endpoint());
        lookup->done.cancel();
      });
  (void)co_await lookup->done.async_wait(kTuple);
  if (!lookup->ended) co_return fail(Errc::kCancelled, "resolve {}", host);
  if (lookup->error) co_return fail(Errc::kIo, "resolve {}: {}", host, reason(lookup->error));
  if (lookup->endpoints.empty()) co_return fail(Errc::kIo, "resolve {}: no address", host);
  co_return lookup->endpoints;
}

Task<Result<tcp::socket>> connect_one(tcp::endpoint endpoint) {
  tcp::socket socket(co_await asio::this_coro::executor);
  auto [error] = co_await socket.async_connect(endpoint, kTuple);
  if (!error) co_return socket;
  co_return fail(error == asio::error::operation_aborted ? Errc::kCancelled : Errc::kIo, "{}",
                 reason(error));
}

}  // namespace

std::string host_port(const std::string& host, std::uint16_t port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

std::string reason(const error_code& error) {
  std::string text = error.message();
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] + 32);
  return text;
}

Task<Result<tcp::socket>> dial(std::string host, std::uint16_t port, Clock& clock,
                               std::chrono::milliseconds address_timeout) {
  CO_TRY(auto addresses, co_await resolve(host, port));
  co_return co_await dial_any(std::move(host), std::move(addresses), clock, address_timeout);
}

Task<Result<tcp::socket>> dial_any(std::string host, std::vector<tcp::endpoint> addresses,
                                   Clock& clock, std::chrono::milliseconds address_timeout) {
  Error last;
  for (const tcp::endpoint& endpoint : addresses) {
    const std::string place = host_port(endpoint.address().to_string(), endpoint.port());
    auto socket = co_await with_deadline(clock, clock.monotonic() + address_timeout,
                                         connect_one(endpoint), "connect");
    if (socket) co_return std::move(*socket);
    last = std::move(socket).error();
    if (last.code == Errc::kCancelled) co_return wrap(std::move(last), "connect {}", place);
    last.context = last.code == Errc::kTimeout ? fmt::format("connect {}: no answer in {}s", place,
                                                             address_timeout.count() / 1000.0)
                                               : fmt::format("connect {}: {}", place, last.context);
  }
  // Only one address did not answer in its time; the call itself may have more.
  last.code = Errc::kIo;
  if (addresses.size() > 1)
    last.context =
        fmt::format("{}: {} addresses tried, last {}", host, addresses.size(), last.context);
  co_return std::unexpected<Error>(std::move(last));
}

}  // namespace amdahl::kube
