#include "base/wakeup.hpp"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "base/task_group.hpp"

namespace amdahl {
namespace {

Task<void> wait_and_note(Wakeup& wakeup, std::vector<std::string>& notes, std::string note) {
  co_await wakeup.wait();
  notes.push_back(std::move(note));
}

TEST_CASE("Wakeup lets its task go on in the next turn, once") {
  boost::asio::io_context io;
  Wakeup wakeup(io.get_executor());
  TaskGroup group(io.get_executor());
  std::vector<std::string> notes;
  wakeup.wake();  // nobody waits: nothing is remembered
  group.spawn("first", wait_and_note(wakeup, notes, "first"));
  io.poll();
  CHECK(notes.empty());
  wakeup.wake();
  wakeup.wake();
  CHECK(notes.empty());
  io.poll();
  CHECK(notes == std::vector<std::string>{"first"});
  group.spawn("second", wait_and_note(wakeup, notes, "second"));
  io.restart();
  io.poll();
  CHECK(notes.size() == 1);
  wakeup.wake();
  io.poll();
  CHECK(notes.back() == "second");
  CHECK(group.empty());
}

TEST_CASE("Wakeup lets a task go on that was stopped, also when it was woken in the same turn") {
  boost::asio::io_context io;
  Wakeup wakeup(io.get_executor());
  TaskGroup group(io.get_executor());
  std::vector<std::string> notes;
  group.spawn("stopped", wait_and_note(wakeup, notes, "stopped"));
  io.poll();
  group.stop();
  wakeup.wake();
  io.poll();
  CHECK(notes == std::vector<std::string>{"stopped"});
  CHECK(group.empty());
}

struct Noted {
  bool& gone;
  ~Noted() { gone = true; }
};

Task<void> wait_for_ever(bool& gone) {
  const Noted noted{gone};
  Wakeup wakeup(co_await boost::asio::this_coro::executor);
  co_await wakeup.wait();
}

TEST_CASE("A task that waits for a Wakeup goes with its io_context") {
  bool gone = false;
  {
    boost::asio::io_context io;
    RunningTask::start(io.get_executor(), wait_for_ever(gone), {});
    io.poll();
    CHECK_FALSE(io.stopped());  // a task that waits is work
  }
  CHECK(gone);
}

}  // namespace
}  // namespace amdahl
