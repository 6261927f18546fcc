// The rest of a cluster, scripted: nodes, a scheduler that places gangs whole, kubelets and
// trainers.
//
// A trainer's script stands in its pod's command: "fail-below=2" makes rank 0 fail in attempts 0
// and 1, "hold" never ends, "hold-until=70" not before that second. Ranks wait for each other, as
// collective operations do: nobody succeeds or fails by itself before all run, and after a failure
// the others hang until they are deleted.
//
// Thread: one. Lifetime: server, agenda and book outlive it. Failure: a refused write is tried
// again with the next change.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.hpp"
#include "tests/simulation/agenda.hpp"
#include "tests/simulation/fault_book.hpp"
#include "tests/simulation/sim_server.hpp"

namespace amdahl::simulation {

struct PodView {
  std::string uid = {};
  std::string node = {};
  std::string phase = {};
  std::string group = {};  // of the scheduler
  std::string gang = {};   // group and attempt: who waits for whom
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  bool fails = false;         // by its script, once all run
  bool holds = false;         // by its script, until it is deleted
  Monotonic not_before = {};  // by its script, it does not end before that
  // Of trainers with a launcher (launchers.hpp).
  bool reports = false;
  bool deaf = false;
  bool hangs = false;
  bool ignores_term = false;
  std::int64_t work = 0;  // steps until it ends well; 0: never
  std::string job = {};
  std::string job_uid = {};
  std::int32_t attempt = 0;
  std::int64_t resume_step = 0;
  bool deleting = false;
};
using PodViews = std::map<std::string, PodView>;  // by name

struct Binding {
  std::string pod = {};
  std::string node = {};
};
// All or nothing by group, first fit, one slot a pod; `nodes` maps a node to its slots.
std::vector<Binding> place(const PodViews& pods, const std::map<std::string, int>& nodes);

class Pods {
 public:
  Pods(SimServer& server, Agenda& agenda, FaultBook& book, Rng rng);

  void on_mutation(const local::Mutation& mutation);
  void play(const Fault& fault);  // pod-kill, pod-delete, preempt, node-loss
  const PodViews& views() const { return pods_; }
  void set_status(const std::string& pod, std::string_view uid, const Json& status);

 private:
  void soon();
  void step();
  void start_bound();
  void end_gangs();
  void set_phase(const std::string& pod, std::string_view phase, std::string_view uid) {
    set_status(pod, uid, {{"phase", phase}});
  }
  void kill(const std::string& pod, const std::string& uid);
  void remove(const std::string& pod, const std::string& uid, bool at_once);
  void take_node(const std::string& node, const Fault& fault);
  std::chrono::nanoseconds pause(std::uint64_t min_ms, std::uint64_t max_ms);
  const std::string* pick_running(std::int64_t which);

  SimServer& server_;
  Agenda& agenda_;
  FaultBook& book_;
  Rng rng_;
  PodViews pods_;
  std::map<std::string, int> nodes_;
  std::map<std::string, std::string> planned_;  // pod uid -> the phase that is on its way
  bool step_scheduled_ = false;
};

}  // namespace amdahl::simulation
