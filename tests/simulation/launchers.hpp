// Launchers of the trainers that report: they count steps, save, and do as they are told, or not.
//
// A trainer's script stands in its pod's command, as in pods.hpp. "report" gives it a launcher that
// reports every two seconds, makes one step per second once all ranks run, and saves every seven;
// "work=60" ends it well at that step; "deaf" makes it ignore pauses; "hang-below=2" makes it stand
// still after ten steps in attempt 1; "ignore-term" makes it use up its grace period (pods.cpp).
//
// Thread: one. Lifetime: pods and agenda outlive it. Failure: a report that no replica takes is
// lost, as on a network.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/rng.hpp"
#include "operator/api/report.hpp"
#include "tests/simulation/agenda.hpp"
#include "tests/simulation/pods.hpp"

namespace amdahl::simulation {

class Launchers {
 public:
  // To the replica that leads; nullopt: no replica answered.
  using Deliver = std::function<std::optional<api::ReportReply>(const api::Report&)>;

  Launchers(Pods& pods, Agenda& agenda, Rng rng, Deliver deliver);

  void on_mutation();  // a pod may have begun to run

 private:
  // The ranks of one attempt move together.
  struct Gang {
    std::optional<Monotonic> began = {};  // when all ranks ran
    std::int64_t saved = 0;
    std::optional<Monotonic> save_ends = {};  // of the checkpoint for a pause
    std::optional<Monotonic> exits = {};      // after that checkpoint
  };
  void tick();
  void advance(Gang& gang, const PodView& pod, bool whole);
  void obey(Gang& gang, const PodView& pod, const api::ReportReply& reply);
  api::Report report_of(const Gang& gang, const std::string& name, const PodView& pod);
  std::int64_t step_of(const Gang& gang, const PodView& pod) const;

  Pods& pods_;
  Agenda& agenda_;
  Rng rng_;
  Deliver deliver_;
  std::map<std::string, Gang> gangs_;
  std::map<std::string, std::int64_t> sequences_;  // by UID of the pod
  bool scheduled_ = false;
};

}  // namespace amdahl::simulation
