// A cluster with one TrainingJob, as far as decide() can see: scenarios and properties play plans
// onto it and look at what is decided next.
//
// It keeps what the API server keeps: names are unique, finalizers hold pods back, deletes have
// grace, what a job owns goes with it. Every plan it is given is held to what must always be true.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "operator/training/decide.hpp"
#include "operator/training/pause_watch.hpp"

namespace amdahl::training {

class World {
 public:
  World();

  // Decides; with `refusal` as if the API server had just said that.
  Plan decide();
  // Does what the plan says. False: the plan did not hold (a pod that it took for lost exists).
  bool play(const Plan& plan);
  // Somebody sets the wall clock of the process.
  void set_clock(WallTime::duration by);
  Moment moment() const {
    return {.steady = Monotonic{(now - set_by_).time_since_epoch()}, .wall = now};
  }
  // Another process leads from here on.
  void change_leader();
  // The process dies after so many writes of the next plan.
  void crash_after(std::size_t writes_left) { writes_left_ = writes_left; }
  // Decides and plays until nothing is left to do; how many plans that took.
  int settle();

  // What users, scheduler, kubelets and ranks do.
  TrainingJob& edit();  // counts a generation
  void delete_job(bool foreground = false);
  void recreate_job();
  void add_node(kube::Node node, std::int64_t gpus_held);
  // Suspends and takes it back, that often, with a look after each.
  void flip_suspend(std::int64_t times);
  GangPod* pod(std::uint32_t rank);  // of the current attempt; null: not there
  GangPod* pod(const std::string& name);
  void bind(GangPod& pod);
  void run(GangPod& pod);
  void end(GangPod& pod, kube::PodPhase phase, std::int32_t exit_code, std::string_view reason);
  void remove(const std::string& name);  // object and all
  void kubelets();                       // whatever is being deleted ends
  void mark_deleted(GangPod& pod, std::int64_t grace);
  void reach(api::Phase phase);  // Queued, Starting or Running, from wherever it is
  api::Report& report(std::uint32_t rank);

  // The one that has pods, which may come before it is on record.
  std::int32_t attempt() const;
  std::vector<std::string> pod_names() const;
  std::size_t writes = 0;                // to the API server, by plans
  std::vector<std::string> broken = {};  // what must never happen, and did

  JobPtr job = {};
  std::map<std::string, GangPod> pods = {};
  GroupPtr group = {};
  ServicePtr service = {};
  bool volcano_served = true;
  NodesPtr nodes = {};
  QueueState queue = QueueState::kOpen;
  std::map<std::string, RankReport> reports = {};  // by pod uid
  std::optional<CreateRefusal> refusal = {};       // of the next decision only
  // What a look would find; nothing: nobody can look. An error: the store cannot be read.
  std::optional<Result<CheckpointFinding>> in_store = {};
  bool store_in_pods = false;
  std::optional<CheckpointLook> look = {};
  bool store_is_silent = false;  // looks do not end
  std::optional<WallTime> status_written = {};
  std::int64_t epoch = 1;
  std::optional<WallTime> leading_since = {};
  PauseWatch pause = {};
  WallTime now;
  PodOptions options = {};
  api::ReportReply reply = {};

 private:
  Observed observe() const;
  void check(const Plan& plan);
  void check_status(const api::TrainingJobStatus& next, const Plan& plan);
  void write_status(const Plan& plan);
  bool record_is_due() const;
  void look_at(const CheckpointAsk& ask);
  void create_pod(const TrainingJob& of, std::uint32_t rank);
  void delete_pod(const PodDelete& which);
  void release_pod(const PodRelease& which);
  void collect(const std::string& name);  // removes it if nothing holds it back
  bool may_write();                       // counts; false: the process has died
  std::string fresh_uid() { return "uid-" + std::to_string(++uids_); }

  WallTime::duration set_by_{0};
  int uids_ = 0;
  std::optional<std::size_t> writes_left_ = {};
  std::set<std::string> names_used_ = {};  // a pod of one name is created once
};

}  // namespace amdahl::training
