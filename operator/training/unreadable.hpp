// How a job is marked that this program cannot read (job_sink.hpp). Pure.
#pragma once

#include <string_view>

#include "operator/training/types.hpp"

namespace amdahl::training {

// An annotation. No API server takes such a key, so nobody else can set it.
inline constexpr std::string_view kUnreadableMark = "!unreadable";

inline bool is_unreadable(const TrainingJob& job) {
  return job.metadata.annotations.contains(kUnreadableMark);
}

}  // namespace amdahl::training
