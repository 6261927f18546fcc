// The wire of one simulated operator process: seeded latencies, and the faults of the plan.
//
// A request that has left is on its way whether or not its process still lives. Thread: one.
// Lifetime: server and book outlive it; it outlives its streams. Failure: as transport.hpp says;
// after cut() everything is Errc::kCancelled and nothing reaches the server any more.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/rng.hpp"
#include "operator/kube/transport.hpp"
#include "tests/simulation/fault_book.hpp"
#include "tests/simulation/process_clock.hpp"
#include "tests/simulation/sim_server.hpp"

namespace amdahl::simulation {

struct StreamState;

// What the processes of a world share.
struct WireWorld {
  SimServer& server;
  Agenda& agenda;
  FaultBook& book;
  Trace& trace;
  boost::asio::any_io_executor executor;
};

class SimWire final : public kube::Transport {
 public:
  struct Options {
    Actor actor = {};
    std::int32_t replica = 0;
    std::function<void()> crash = {};  // ends this process, as SIGKILL would
  };
  SimWire(WireWorld world, ProcessClock& clock, Rng rng, Options options);

  Task<Result<kube::Response>> send(kube::Request request, Monotonic deadline) override;
  Task<Result<kube::StreamResponse>> open(kube::Request request, Monotonic head_deadline) override;
  void set_fence(const kube::WriteFence* fence) override { fence_ = fence; }

  void cut();            // the process is dead
  void break_streams();  // what was on its way is lost
  std::chrono::nanoseconds latency();

 private:
  struct Exchange;
  void freeze(const Fault& fault);
  void depart(const std::shared_ptr<Exchange>& exchange, kube::Request request, const Fault* fault);
  void arrive(const std::shared_ptr<Exchange>& exchange, kube::Request request, const Fault* fault);
  Task<Result<kube::Response>> receive(std::shared_ptr<Exchange> exchange, Monotonic deadline,
                                       std::string context);
  std::string stale_list(kube::Request& request, const Fault& stale);
  std::uint64_t version_at(const Fault& stale) const;
  void turn_pages(kube::Request& request);
  const Fault* open_window(FaultKind kind) const {
    return world_.book.open(kind, options_.replica, clock_.monotonic());
  }
  Error lost(const kube::Request& request, Errc code, std::string_view why) const;

  WireWorld world_;
  ProcessClock& clock_;
  Rng rng_;
  Options options_;
  const kube::WriteFence* fence_ = nullptr;
  std::vector<std::weak_ptr<Exchange>> exchanges_;
  std::vector<std::weak_ptr<StreamState>> streams_;
  bool dead_ = false;
};

}  // namespace amdahl::simulation
