#include "operator/controller/signals.hpp"

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>

#include "base/test_death.hpp"

namespace amdahl::controller {
namespace {

void write_to_closed_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return;
  ::close(ends[0]);
  const ssize_t written = ::write(ends[1], "x", 1);
  if (written != -1 || errno != EPIPE) ::_exit(1);
}

TEST_CASE("A process that handles its signals outlives the readers of its pipes", "[E9]") {
  CHECK(fatal_signal(write_to_closed_pipe) == SIGPIPE);  // the test can fail
  CHECK(fatal_signal([] {
          boost::asio::io_context io;
          const StopSignals signals(io.get_executor(), [] {}, [] {});
          write_to_closed_pipe();
        }) == 0);
}

TEST_CASE("A program's own handler for broken pipes is left alone", "[E9]") {
  CHECK(fatal_signal([] {
          std::signal(SIGPIPE, [](int) { std::raise(SIGUSR1); });
          boost::asio::io_context io;
          const StopSignals signals(io.get_executor(), [] {}, [] {});
          write_to_closed_pipe();
        }) == SIGUSR1);
}

}  // namespace
}  // namespace amdahl::controller
