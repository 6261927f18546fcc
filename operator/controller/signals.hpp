// Signals of a process: SIGTERM and SIGINT ask for an orderly end, a second one ends at once (E9).
// SIGPIPE is ignored from then on: a pipe whose reader has gone is an error of one write, not the
// end of an operator. Programs that are started get it back as it was (subprocess.hpp).
//
// Thread: one. Lifetime: the handlers run on the executor until this dies. Failure: none.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>

namespace amdahl::controller {

class StopSignals {
 public:
  // `at_once` is usually std::_Exit; it need not return.
  StopSignals(boost::asio::any_io_executor executor, std::function<void()> graceful,
              std::function<void()> at_once);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  struct State;
  static void wait(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;
};

}  // namespace amdahl::controller
