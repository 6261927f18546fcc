#include "base/task_group.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include "base/check.hpp"
#include "base/deadline.hpp"

namespace amdahl {
namespace asio = boost::asio;
namespace {

std::string describe(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

[[noreturn]] void stop_process(const std::string& why, int line) {
  check_failed(why.c_str(), __FILE__, line);
}

// What the driving loops share: the task, and whether and how it ended.
struct Driven {
  std::shared_ptr<RunningTask> task;
  bool ended = false;
  std::exception_ptr failure;
};

void begin(asio::io_context& io, Task<void> task, Driven& driven) {
  io.restart();
  driven.task =
      RunningTask::start(io.get_executor(), std::move(task), [&driven](std::exception_ptr failure) {
        driven.ended = true;
        driven.failure = std::move(failure);
      });
}

}  // namespace

bool is_cancellation(const std::exception_ptr& failure) {
  if (!failure) return false;
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& error) {
    return error.code() == asio::error::operation_aborted;
  } catch (...) {
    return false;
  }
}

std::shared_ptr<RunningTask> RunningTask::start(asio::any_io_executor executor, Task<void> task,
                                                OnEnd on_end) {
  auto self = std::make_shared<RunningTask>();
  // The handler owns the signal too: it must outlive the coroutine that listens to it.
  asio::co_spawn(executor, drive(self, std::move(task), std::move(on_end)),
                 asio::bind_cancellation_slot(self->signal_.slot(), [self](std::exception_ptr) {}));
  return self;
}

Task<void> RunningTask::drive(std::shared_ptr<RunningTask> self, Task<void> task, OnEnd on_end) {
  std::exception_ptr failure;
  // Until here stop() only leaves a note: co_spawn loses a task that is cancelled before it begins.
  self->phase_ = Phase::kRunning;
  if (!self->stopped_) {
    try {
      co_await std::move(task);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  {
    // NOLINTNEXTLINE(bugprone-use-after-move): after the move it is empty, and that is meant.
    const Task<void> destroyed_unless_it_ran = std::move(task);
  }
  self->phase_ = Phase::kEnded;
  // co_spawn still awaits once after us, and would throw out of the loop if this task was stopped.
  co_await asio::this_coro::throw_if_cancelled(false);
  if (on_end) on_end(std::move(failure));
}

void RunningTask::stop() {
  // Once: a task that was stopped and now waits for what it started must not leave that behind.
  if (std::exchange(stopped_, true)) return;
  if (phase_ == Phase::kRunning) signal_.emit(asio::cancellation_type::terminal);
}

struct TaskGroup::State {
  struct Member {
    std::string name;
    std::shared_ptr<RunningTask> task;
  };
  explicit State(const asio::any_io_executor& executor) : emptied(executor) {}

  std::map<Id, Member> members;
  Id next_id = 1;
  bool stopping = false;
  Notify emptied;
};

namespace {

Task<void> on_next_turn(Task<void> task) {
  co_await asio::post(asio::use_awaitable);
  co_await std::move(task);
}

}  // namespace

TaskGroup::TaskGroup(asio::any_io_executor executor)
    : executor_(executor), state_(std::make_shared<State>(executor)) {}

TaskGroup::~TaskGroup() {
  if (std::uncaught_exceptions() > 0) return;  // a test is failing; let it say why
  for (const auto& [id, member] : state_->members)
    stop_process("task \"" + member.name + "\" still runs when its group dies", __LINE__);
}

TaskGroup::Id TaskGroup::spawn(std::string name, Task<void> task) {
  if (state_->stopping) return 0;
  const Id id = state_->next_id++;
  State::Member& member = state_->members[id];
  member.name = std::move(name);
  const auto on_end = [state = state_, id](const std::exception_ptr& failure) {
    const auto place = state->members.find(id);
    if (failure && !is_cancellation(failure))
      stop_process("task \"" + place->second.name + "\" ended with: " + describe(failure),
                   __LINE__);
    state->members.erase(place);
    if (state->members.empty()) state->emptied.notify_all();
  };
  member.task = RunningTask::start(executor_, on_next_turn(std::move(task)), on_end);
  return id;
}

void TaskGroup::stop() {
  state_->stopping = true;
  // A copy: a stopped task may end at once and leave the map.
  std::vector<std::shared_ptr<RunningTask>> tasks;
  tasks.reserve(state_->members.size());
  for (const auto& [id, member] : state_->members) tasks.push_back(member.task);
  for (const auto& task : tasks) task->stop();
}

void TaskGroup::stop(Id id) {
  const auto place = state_->members.find(id);
  if (place == state_->members.end()) return;
  const std::shared_ptr<RunningTask> task = place->second.task;
  task->stop();
}

Task<bool> TaskGroup::join(Clock& clock, Monotonic deadline) {
  const std::shared_ptr<State> state = state_;
  while (!state->members.empty()) {
    const auto waited = co_await state->emptied.wait(clock, deadline);
    if (!waited) co_return state->members.empty();
  }
  co_return true;
}

bool TaskGroup::empty() const {
  return state_->members.empty();
}
std::size_t TaskGroup::size() const {
  return state_->members.size();
}
bool TaskGroup::stopping() const {
  return state_->stopping;
}

std::vector<std::string> TaskGroup::running() const {
  std::vector<std::string> names;
  for (const auto& [id, member] : state_->members) names.push_back(member.name);
  return names;
}

namespace detail {

void run_io(asio::io_context& io, Task<void> task, RunLimits limits) {
  Driven driven;
  begin(io, std::move(task), driven);
  const RealClock clock;
  const bool limited = limits.wall > std::chrono::milliseconds::zero();
  const Monotonic deadline = limited ? clock.monotonic() + limits.wall : Monotonic::max();
  while (!driven.ended) {
    const std::size_t ran = limited ? io.run_one_until(deadline) : io.run_one();
    if (ran > 0 || driven.ended) continue;
    if (io.stopped()) stop_process("the task waits, but nothing is left to wake it", __LINE__);
    stop_process("the task did not end within its time limit", __LINE__);
  }
  io.poll();  // lets the coroutine's frame go
  if (driven.failure) std::rethrow_exception(driven.failure);
}

void run_io_simulated(asio::io_context& io, ManualClock& clock, Task<void> task, RunLimits limits) {
  Driven driven;
  begin(io, std::move(task), driven);
  std::uint64_t advances = 0;
  for (io.poll(); !driven.ended; io.poll()) {
    const Monotonic next = clock.next_deadline();
    if (next == Monotonic::max())
      stop_process("simulated tasks wait for each other, and nobody for the clock", __LINE__);
    if (++advances > limits.advances_max)
      stop_process("the simulated task did not end within its limit of clock moves", __LINE__);
    clock.advance(next - clock.monotonic());
    io.restart();
  }
  if (driven.failure) std::rethrow_exception(driven.failure);
}

}  // namespace detail
}  // namespace amdahl
