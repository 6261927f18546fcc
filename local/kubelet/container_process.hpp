// One run of one container: the shim, what it prints and how it ends.
//
// Thread: one. Lifetime: the task group and the clock outlive it; on_end is called once, from a
// task of the group. When it is destroyed earlier, the shim sees that and kills everything.
// Failure: start() says Errc::kInvalid when the program cannot run, with the shim's words.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/spawn.hpp"
#include "base/task.hpp"
#include "base/task_group.hpp"
#include "local/kubelet/log_file.hpp"
#include "local/kubelet/pod_status.hpp"
#include "local/kubelet/shim_spec.hpp"

namespace amdahl::local {

inline constexpr std::chrono::seconds kShimStartMax{20};

struct Launch {
  std::string name = {};  // for messages: "research/llama-0 trainer"
  std::string shim = {};  // the program
  ShimSpec spec = {};
  std::vector<std::string> shim_variables = {};  // of the shim itself
  std::shared_ptr<LogWriter> log = {};
  std::function<void()> on_output = {};
  std::function<void(ProgramEnd)> on_end = {};
};

class ContainerProcess : public std::enable_shared_from_this<ContainerProcess> {
 public:
  static Task<Result<std::shared_ptr<ContainerProcess>>> start(TaskGroup& tasks, Clock& clock,
                                                               Launch launch);
  void terminate() { command(kShimTerminate); }
  void kill() { command(kShimKill); }

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;
  struct Ends {
    Fd control;
    Descriptor status;
    Descriptor output;
    Descriptor exited;
  };
  ContainerProcess(Clock& clock, Launch launch, pid_t pid, Ends ends);
  static Task<Result<void>> first_line(std::shared_ptr<ContainerProcess> self);
  static Task<void> read_output(std::shared_ptr<ContainerProcess> self);
  static Task<void> wait_for_end(std::shared_ptr<ContainerProcess> self);
  bool read_status();      // false: nothing now
  bool take_output();      // one read; false: nothing now, or the end
  ProgramEnd end() const;  // from what the shim said
  void command(char what) const;

  Clock& clock_;
  Launch launch_;
  pid_t pid_;
  Ends ends_;
  std::string said_;  // lines of the shim
  bool output_open_ = true;
};

}  // namespace amdahl::local
