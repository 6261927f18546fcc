// How a job is marked that this program cannot read (job_sink.hpp). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "operator/training/types.hpp"

namespace amdahl::training {

// Annotations; the value says why. No API server takes such keys, so nobody else can set them.
inline constexpr std::string_view kUnreadableMark = "!unreadable";
// Everything but the template could be read: the template is the user's fault, and refused.
inline constexpr std::string_view kUnreadableTemplateMark = "!unreadable-template";

inline bool is_unreadable(const TrainingJob& job) {
  return job.metadata.annotations.contains(kUnreadableMark);
}
inline std::optional<std::string> unreadable_template(const TrainingJob& job) {
  const auto why = job.metadata.annotations.find(kUnreadableTemplateMark);
  if (!why) return std::nullopt;
  return "spec.template: cannot be read: " + std::string(*why);
}

}  // namespace amdahl::training
