// The sections of `describe`: conditions, attempts, GPU-seconds, events; and what was told so far.
//
// Pure, any thread. Failure: none.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/job_seen.hpp"

namespace amdahl::cli {

// What a view has said so far, so that each message is shown once: conditions and events repeat
// the message of a cause, as it is or inside a longer sentence.
class Told {
 public:
  // The line without what was told before; "" when all of it was.
  std::string rest_of(std::string_view message) const;
  // The same, and from now on it was told.
  std::string once(std::string_view message);

 private:
  static constexpr std::size_t kTellingBytesMin = 12;  // shorter ones are found in any text

  std::vector<std::string> lines_;
};

// "3m", or "?" when the time is not known.
std::string ago(const JobSeen& seen, const std::optional<WallTime>& then);

std::string conditions_section(const JobSeen& seen, Told& told);
std::string attempts_section(const JobSeen& seen);
std::string gpu_section(const JobSeen& seen);
// The newest ones, the oldest of them first. Points into `seen`.
std::vector<const kube::Event*> newest_events(const JobSeen& seen, std::size_t count_max);
std::string events_section(const JobSeen& seen, std::size_t count_max, const Told& told);

}  // namespace amdahl::cli
