#include "local/kubelet/container_process.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>
#include <ranges>

#include "base/deadline.hpp"
#include "base/json_encode.hpp"

namespace amdahl::local {
namespace {

namespace asio = boost::asio;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kSaidBytesMax = 64 * 1024;
constexpr int kDrainReadsMax = 64;  // after the end: 4 MiB, more than a pipe holds

// In memory, because variables may hold secrets.
Result<Fd> spec_file(const ShimSpec& spec) {
  const std::string text =
      encode(spec).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const Fd low(::memfd_create("amdahl-shim", MFD_CLOEXEC));
  if (!low || ::write(low.get(), text.data(), text.size()) != std::ssize(text) ||
      ::lseek(low.get(), 0, SEEK_SET) != 0)
    return fail(Errc::kIo, "write the spec: {}", errno_text(errno));
  return duplicate_fd(low.get());
}

int number_after(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

ContainerProcess::ContainerProcess(Clock& clock, Launch launch, pid_t pid, Ends ends)
    : clock_(clock), launch_(std::move(launch)), pid_(pid), ends_(std::move(ends)) {}

Task<Result<std::shared_ptr<ContainerProcess>>> ContainerProcess::start(TaskGroup& tasks,
                                                                        Clock& clock,
                                                                        Launch launch) {
  CO_TRY(Pipe output, make_pipe());
  CO_TRY(Pipe status, make_pipe());
  CO_TRY(Pipe control, make_socket_pair());
  CO_TRY(const Fd spec, spec_file(launch.spec));
  CO_TRY(Spawned child, spawn({.arguments = {launch.shim},
                               .environment = launch.shim_variables,
                               .fds = {{output.write.get(), STDOUT_FILENO},
                                       {output.write.get(), STDERR_FILENO},
                                       {spec.get(), kShimSpecFd},
                                       {control.read.get(), kShimControlFd},
                                       {status.write.get(), kShimStatusFd}}}));
  const auto& executor = tasks.executor();
  Ends ends{.control = std::move(control.write),
            .status = Descriptor(executor, status.read.release()),
            .output = Descriptor(executor, output.read.release()),
            .exited = Descriptor(executor, child.pidfd.release())};
  std::shared_ptr<ContainerProcess> self(
      new ContainerProcess(clock, std::move(launch), child.pid, std::move(ends)));
  output.write.reset();
  status.write.reset();
  const std::string name = self->launch_.name;
  tasks.spawn(name + " output", read_output(self));
  auto begun = co_await with_deadline(clock, clock.monotonic() + kShimStartMax, first_line(self),
                                      "start " + name);
  if (!begun) {
    self->launch_.on_end = {};
    self->kill();
  }
  tasks.spawn(name, wait_for_end(self));
  if (!begun) co_return std::unexpected<Error>(std::move(begun).error());
  co_return self;
}

Task<Result<void>> ContainerProcess::first_line(std::shared_ptr<ContainerProcess> self) {
  while (!self->said_.contains('\n')) {
    const auto [error] = co_await self->ends_.status.async_wait(Descriptor::wait_read, kTuple);
    if (error) co_return fail(Errc::kCancelled, "cancelled");
    if (!self->read_status())
      co_return fail(Errc::kIo, "{} ended without a word", self->launch_.shim);
  }
  if (self->said_.starts_with("started\n")) co_return Result<void>{};
  co_return fail(Errc::kInvalid, "{}", self->end().start_problem);
}

bool ContainerProcess::read_status() {
  std::array<char, 4096> buffer;
  const ssize_t count = ::read(ends_.status.native_handle(), buffer.data(), buffer.size());
  if (count <= 0) return false;
  if (said_.size() < kSaidBytesMax) said_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

bool ContainerProcess::take_output() {
  std::array<char, kReadBytes> buffer;
  const ssize_t count = ::read(ends_.output.native_handle(), buffer.data(), buffer.size());
  if (count == 0) output_open_ = false;
  if (count <= 0) return false;
  launch_.log->write({buffer.data(), static_cast<std::size_t>(count)}, clock_.wall());
  if (launch_.on_output) launch_.on_output();
  return true;
}

Task<void> ContainerProcess::read_output(std::shared_ptr<ContainerProcess> self) {
  while (self->output_open_ && self->ends_.output.is_open()) {
    const auto [error] = co_await self->ends_.output.async_wait(Descriptor::wait_read, kTuple);
    if (error || !self->ends_.output.is_open()) co_return;
    (void)self->take_output();  // nothing there: waits again
  }
}

Task<void> ContainerProcess::wait_for_end(std::shared_ptr<ContainerProcess> self) {
  const auto [error] = co_await self->ends_.exited.async_wait(Descriptor::wait_read, kTuple);
  if (error) co_return;  // stopped: the shim sees its control pipe close
  ::waitpid(self->pid_, nullptr, 0);
  while (self->read_status()) {
  }
  // Nobody is left who could print, but the pipe may hold something.
  for (int i = 0; i < kDrainReadsMax && self->output_open_ && self->take_output(); ++i) {
  }
  boost::system::error_code ignored;
  self->ends_.output.close(ignored);
  self->launch_.log->close();
  if (self->launch_.on_output) self->launch_.on_output();
  if (self->launch_.on_end) self->launch_.on_end(self->end());
}

ProgramEnd ContainerProcess::end() const {
  // A shim that says nothing was itself killed.
  ProgramEnd end{.signal = SIGKILL};
  for (const auto part : said_ | std::views::split('\n')) {
    std::string_view line(part.begin(), part.end());
    if (line == "oom") end.out_of_memory = true;
    if (line.starts_with("failed ")) end.start_problem = line.substr(7);
    if (!line.starts_with("exited ")) continue;
    line.remove_prefix(7);
    end.exit_code = number_after(line);
    end.signal = number_after(line);
  }
  return end;
}

void ContainerProcess::command(char what) const {
  // A shim that has gone needs no command.
  (void)::send(ends_.control.get(), &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace amdahl::local
