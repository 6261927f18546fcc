// spec.checkpoint of a TrainingJob: where, how often and for how long its state is kept.
//
// Plain values, any thread; see training_job_spec.hpp.
#pragma once

#include <cstdint>
#include <string>

#include "base/duration.hpp"
#include "base/fields.hpp"
#include "operator/api/bounds.hpp"
#include "operator/api/training_job_enums.hpp"

namespace amdahl::api {

using namespace std::chrono_literals;

struct AutoWord {
  static constexpr std::string_view kName = "Auto";
};
using AutoDuration = DurationOr<AutoWord>;

// A quantity of bytes, as people write it.
inline constexpr const char* kBytesPattern =
    R"(^[0-9]{1,15}(\.[0-9]{1,3})?(k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$)";

struct RetentionSpec {
  std::int32_t keep_last = 3;
  std::int64_t keep_every_steps = 0;
  std::string bytes_max = "0";  // a quantity
  bool operator==(const RetentionSpec&) const = default;
};
template <class V>
constexpr void fields(V& v, RetentionSpec& spec) {
  v.defaulted("keepLast", spec.keep_last, 3,
              {.doc = "How many of the newest checkpoints are kept.", .min = 1, .max = 1000});
  v.defaulted("keepEverySteps", spec.keep_every_steps, 0,
              {.doc = "Keeps, besides the newest, one checkpoint in every so many steps. 0 keeps "
                      "only the newest.",
               .min = 0,
               .max = kIntegerMax});
  v.defaulted("maxBytes", spec.bytes_max, "0",
              {.doc = "A quantity such as 500Gi: above it the oldest checkpoints are removed, "
                      "though never the last one. 0 means no limit.",
               .length_min = 1,
               .length_max = 24,
               .pattern = kBytesPattern});
}

struct PauseSpec {
  Duration deadline = 2min;
  PausePolicy policy = PausePolicy::kCommitted;
  bool operator==(const PauseSpec&) const = default;
};
template <class V>
constexpr void fields(V& v, PauseSpec& spec) {
  v.defaulted("deadline", spec.deadline, 2min,
              {.doc = "How long a pause waits for the workload to commit a checkpoint.",
               .min = 1,
               .max = kDay});
  v.defaulted("policy", spec.policy, PausePolicy::kCommitted,
              {.doc = "What happens when the deadline passes without a checkpoint. Committed runs "
                      "on and says why; BestEffort stops anyway and says how many steps are "
                      "lost."});
}

struct CheckpointSpec {
  std::string uri = {};
  std::string init_from = {};  // URI or URI@STEP
  AutoDuration interval = {};
  std::string arena_bytes = "0";  // a quantity
  RetentionSpec retention = {};
  PauseSpec pause = {};
  bool operator==(const CheckpointSpec&) const = default;
};
template <class V>
constexpr void fields(V& v, CheckpointSpec& spec) {
  v.optional("uri", spec.uri,
             {.doc = "Where checkpoints are kept: gs://bucket/prefix, s3://bucket/prefix, or "
                     "file:///path inside the container, on a volume of the template. Without it "
                     "Amdahl keeps nothing; before a pause the script is asked to save by its own "
                     "means. Can be changed only while the job is suspended.",
              .length_min = 1,
              .length_max = kUriMax,
              .pattern = R"(^((gs|s3)://[a-z0-9]|file:///)[^\s]*$)"});
  v.optional("initFrom", spec.init_from,
             {.doc = "Where the job takes its first state from while it has no checkpoint itself: "
                     "the checkpoint URI of another job, as it is (its newest checkpoint) or with "
                     "@STEP at its end. It is only read. Needs uri.",
              .length_min = 1,
              .length_max = kUriMax,
              .pattern = R"(^((gs|s3)://[a-z0-9]|file:///)[^\s]*$)"});
  v.defaulted("interval", spec.interval, AutoDuration{},
              {.doc = "Time between two checkpoints. Auto computes it from the measured cost of a "
                      "checkpoint and the failures seen (Young/Daly).",
               .min = 1,
               .max = 30 * kDay});
  v.defaulted("arenaBytes", spec.arena_bytes, "0",
              {.doc = "A quantity such as 8Gi: so much memory is mounted into every pod for "
                      "snapshots, which outlive the trainer's processes there. It counts against "
                      "the trainer's memory limit, which must be 64Mi larger at least. 0 mounts "
                      "nothing; snapshots are then in the memory of the processes.",
               .length_min = 1,
               .length_max = 24,
               .pattern = kBytesPattern});
  v.optional("retention", spec.retention,
             {.doc = "Which checkpoints are kept. A change counts from the next attempt on, and "
                     "for `amdahl checkpoint gc` at once."});
  v.optional("pause", spec.pause, {.doc = "How the job is paused."});
  v.rule({.rule = "!has(self.initFrom) || has(self.uri)",
          .message = "initFrom needs uri, the place for what this job saves",
          .field = ".initFrom"});
}

}  // namespace amdahl::api
