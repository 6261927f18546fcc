// What runs in the server's process beside it, as its clients: controllers, scheduler, kubelet.
//
//   Components parts(executor, clock, durable, log);
//   Scheduler scheduler(parts.runtime("system:kube-scheduler"), rng.split(), options);
//   parts.add("scheduler", [&] { return scheduler.run(); }, Components::asks([&] { ... }));
//   parts.start();
//
// Each has a wire, a client and metrics of its own. They are stopped in the reverse order. Thread:
// one. Lifetime: outlives what was made with its runtimes' clients; stop() has returned before it
// dies. Failure: a part that ends by itself is reported by ended(); the cluster then cannot go on.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/deadline.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "base/task_group.hpp"
#include "local/apiserver/front/durable_server.hpp"
#include "operator/controller/controller.hpp"

namespace amdahl::local {

class Components {
 public:
  using Run = std::function<Task<Result<void>>()>;
  using Stop = std::function<Task<void>(Monotonic deadline)>;

  Components(const boost::asio::any_io_executor& executor, Clock& clock, DurableServer& server,
             Rng rng, Log log);
  ~Components();
  Components(const Components&) = delete;
  Components& operator=(const Components&) = delete;

  // A client of the API server under that user name.
  controller::Runtime runtime(std::string user);
  // Before start(). `run` ends after `stop`, and not before.
  void add(std::string name, Run run, Stop stop);
  // A stop that only asks.
  static Stop asks(std::function<void()> stop);
  void start();
  Task<Result<void>> stop(Monotonic deadline);

  // Why one of them ended by itself; nothing while all run.
  const std::optional<Error>& failure() const { return failure_; }
  // Called once, when that happens.
  void on_failure(std::function<void()> handler) { on_failure_ = std::move(handler); }

 private:
  struct ClientOf;
  struct Part {
    std::string name = {};
    Run run = {};
    Stop stop = {};
    std::unique_ptr<TaskGroup> task = {};
  };
  Task<void> drive(Part& part);

  boost::asio::any_io_executor executor_;
  Clock& clock_;
  DurableServer& server_;
  Rng rng_;
  Log log_;
  std::vector<std::unique_ptr<ClientOf>> clients_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::optional<Error> failure_;
  std::function<void()> on_failure_;
  bool stopping_ = false;
};

}  // namespace amdahl::local
