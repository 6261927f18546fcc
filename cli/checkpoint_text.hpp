// Checkpoints as text. Pure. Failure: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/engine/catalog.hpp"
#include "checkpoint/engine/collector.hpp"

namespace amdahl::cli {

// "17 B", "1.5 KiB", "24.0 GiB".
std::string bytes_text(std::int64_t bytes);

struct CheckpointRow {
  std::int64_t step = 0;
  std::optional<checkpoint::ReadManifest> manifest = {};  // nothing: it cannot be used
  std::string damage = {};                                // why
  bool pinned = false;
};
std::string checkpoints_table(const std::vector<CheckpointRow>& rows);
Json checkpoints_json(const std::vector<CheckpointRow>& rows);

std::string checkpoint_text(const checkpoint::Chain& chain, bool pinned, bool tensors);
Json checkpoint_json(const checkpoint::Chain& chain, bool pinned);

std::string collection_text(const checkpoint::Collected& collected, bool dry_run);

}  // namespace amdahl::cli
