// The manifest of a job that runs once more: the same spec, without the traces of the run before.
//
// Pure, any thread. Failure: Errc::kInvalid says why the job cannot be run again like this.
#pragma once

#include <string>

#include "base/fields.hpp"
#include "base/result.hpp"
#include "cli/training_jobs.hpp"

namespace amdahl::cli {

struct RerunOptions {
  std::string name = {};         // empty: the same
  bool from_checkpoint = false;  // start from the newest checkpoint of the run before
  std::string suffix = {};       // makes the new place for checkpoints unlike every other
};

struct RerunManifest {
  Json object = {};
  std::string checkpoints_before = {};  // where those of the run before stay; empty: same place
  std::string checkpoints = {};         // where the new ones go
};

// `wanted` is what to run: the job as it is stored, or a file. `before` is the job that has run.
//
// A checkpoint URI belongs to one job, by its UID, and the new run is another job: if the run
// before had an attempt, or stays because the new one has another name, the new one gets a new
// folder below the same URI. RerunOptions::from_checkpoint starts it from the checkpoints in the
// old folder.
Result<RerunManifest> rerun_manifest(const TrainingJob& before, Json wanted,
                                     const RerunOptions& options);

}  // namespace amdahl::cli
