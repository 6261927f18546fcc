#include "operator/controller/signals.hpp"

#include <boost/asio/signal_set.hpp>
#include <csignal>

namespace amdahl::controller {
namespace asio = boost::asio;

struct StopSignals::State {
  State(const asio::any_io_executor& executor, std::function<void()> first,
        std::function<void()> second)
      : signals(executor, SIGTERM, SIGINT),
        graceful(std::move(first)),
        at_once(std::move(second)) {}

  asio::signal_set signals;
  std::function<void()> graceful;
  std::function<void()> at_once;
  int seen = 0;
};

namespace {

// A handler that somebody installed stays.
void ignore_broken_pipes() {
  struct sigaction current{};
  if (::sigaction(SIGPIPE, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) return;
  struct sigaction ignored{};
  ignored.sa_handler = SIG_IGN;
  (void)::sigaction(SIGPIPE, &ignored, nullptr);  // fails for unknown signals only
}

}  // namespace

StopSignals::StopSignals(asio::any_io_executor executor, std::function<void()> graceful,
                         std::function<void()> at_once)
    : state_(std::make_shared<State>(executor, std::move(graceful), std::move(at_once))) {
  ignore_broken_pipes();
  wait(state_);
}

StopSignals::~StopSignals() {
  state_->signals.cancel();
}

void StopSignals::wait(const std::shared_ptr<State>& state) {
  state->signals.async_wait([state](const boost::system::error_code& error, int) {
    if (error) return;
    (++state->seen == 1 ? state->graceful : state->at_once)();
    wait(state);
  });
}

}  // namespace amdahl::controller
