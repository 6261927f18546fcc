// What shall be done about one TrainingJob. Built by decide(), carried out by apply.cpp.
//
// Order of the acts: confirm, delete, release, ensure, create, status, then the job itself. A plan
// with write_ahead has a status and no acts: what it records is acted upon by the next pass, which
// reads it back (W7). A plan with as_if is the one exception: unrecorded.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/report.hpp"
#include "operator/training/checkpoint_look.hpp"
#include "operator/training/moves.hpp"
#include "operator/training/types.hpp"

namespace amdahl::training {

struct PodDelete {
  std::string name = {};
  std::string uid = {};
  std::string version = {};
  std::string why = {};  // "Paused", "Restarting", ...: for the log
  bool runs = false;     // as far as was seen; one that has ended meanwhile is evidence
};
struct PodRelease {
  std::string name = {};
  std::string uid = {};
  GangPodPtr object = {};
};
struct ObjectDelete {
  std::string name = {};
  std::string uid = {};
  std::string version = {};
};
struct PlannedEvent {
  bool warning = false;
  std::string reason = {};
  std::string note = {};
};

struct Plan {
  std::string policy = {};  // who decided, for logs and scenarios
  std::optional<Move> move = {};
  // Pods whose absence the decision rests on: if one of them exists after all, nothing is done.
  std::vector<std::string> confirm_absent = {};
  bool write_ahead = false;
  std::optional<api::TrainingJobStatus> status = {};
  // The job as if its next attempt were on record already; null: as it was seen.
  JobPtr as_if = {};

  std::vector<PodRelease> release_pods = {};
  std::vector<PodDelete> delete_pods = {};
  std::optional<ObjectDelete> delete_group = {};
  std::optional<ObjectDelete> delete_service = {};
  std::optional<Json> create_service = {};
  std::optional<Json> create_group = {};
  std::optional<Json> update_group = {};        // spec only; Volcano writes the rest
  std::vector<std::uint32_t> create_pods = {};  // ranks of the current attempt
  bool delete_job = false;

  // To be begun; its end brings the next pass. No act: nothing is written for it.
  std::optional<CheckpointAsk> look_at_checkpoint = {};
  api::ReportReply reply = {};  // what the ranks are told when they next report
  std::vector<PlannedEvent> events = {};
  std::optional<std::chrono::nanoseconds> requeue_after = {};

  bool acts() const {
    return !release_pods.empty() || !delete_pods.empty() || delete_group || delete_service ||
           create_service || create_group || update_group || !create_pods.empty() || delete_job;
  }
  bool empty() const { return !acts() && !status; }
  // The earlier of both.
  void look_again_in(std::chrono::nanoseconds delay) {
    if (!requeue_after || delay < *requeue_after) requeue_after = delay;
  }
};

}  // namespace amdahl::training
