// Creates TrainingJobs: the one way of `submit` and `rerun`, and what a dry run checks.
//
// Thread: one. Lifetime: the client outlives the task. Failure: the server's answer, with the place
// of the manifest; Errc::kAlreadyExists when there is a job of that name.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/fields.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "cli/cluster_access.hpp"

namespace amdahl::cli {

// Created as if it had been applied, so that a later apply of the file may change it.
Task<Result<Json>> create_job(kube::Client& client, Json manifest);

// Nothing is created. The job is checked by the server, and so is its pod template, which the kind
// TrainingJob takes as it is: as a pod. `unchecked` says why that was not possible.
struct DryRun {
  Json job = {};
  std::string unchecked = {};
};
Task<Result<DryRun>> try_job(kube::Client& client, Json manifest);

}  // namespace amdahl::cli
