// Which checkpoint is the newest. Derived from names and manifests, never from a file that changes.
//
// Pure; thread any; failure: none, what cannot be used is said.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "checkpoint/format/manifest.hpp"

namespace amdahl::checkpoint {

// The steps of a listing that have a manifest, newest first. Names that are not ours are not seen.
std::vector<std::int64_t> committed_steps(std::span<const std::string> listed);

// What became of reading one manifest.
struct Candidate {
  std::int64_t step = 0;
  Result<ReadManifest> manifest;
};
struct PassedOver {
  std::int64_t step = 0;
  std::string why = {};
};
struct Choice {
  std::optional<std::size_t> index = {};     // of the candidates
  std::vector<PassedOver> passed_over = {};  // newer ones, newest first
};
// The newest that could be read; candidates in any order.
Choice choose_newest(std::span<const Candidate> candidates);

}  // namespace amdahl::checkpoint
