// Where the checkpoints are that a verb of `amdahl checkpoint` speaks of: an address, or a job
// whose spec has one.
//
// Thread: one. Lifetime: the program outlives the store. Failure: an address that cannot be right,
// credentials that are missing, a job that is not there or keeps no checkpoints.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "checkpoint/engine/catalog.hpp"
#include "cli/cluster_access.hpp"
#include "cli/program.hpp"
#include "operator/api/training_job_spec.hpp"

namespace amdahl::cli {

// For verbs that read records only, and for those that read everything.
inline constexpr std::chrono::minutes kRecordsDeadline{10};
inline constexpr std::chrono::hours kObjectsDeadline{24};

struct PlaceOptions {
  AccessOptions access = {};
  std::string where = {};
  std::string trusted_keys = {};  // a file; empty: signatures are not demanded
};
void add_place_options(CLI::App& verb, PlaceOptions& options);
// One paragraph of help, the same for every verb that has these options.
std::string place_help();

// The TrainingJob that was named.
struct PlaceOfJob {
  std::string name = {};  // NAMESPACE/NAME
  std::string uid = {};
  api::CheckpointSpec spec = {};
};
struct Place {
  std::string address = {};
  std::optional<PlaceOfJob> job = {};  // nothing: the address itself was given
};
Result<Place> find_place(Program& program, const PlaceOptions& options);

// False for a folder that does not exist on this machine.
bool is_here(std::string_view address);

using StorePtr = std::unique_ptr<checkpoint::Store>;
Result<StorePtr> open_found(Program& program, const PlaceOptions& options, const Place& place);
Result<StorePtr> open_place(Program& program, const PlaceOptions& options);

checkpoint::StoreCall call_within(const Program& program, std::chrono::nanoseconds span);

// A step that nobody has saved is not a damaged one.
Result<void> check_committed(checkpoint::Store& store, std::int64_t step,
                             const checkpoint::StoreCall& call);
// The step that was asked for, or the newest that can be used; what was passed over is said.
Result<checkpoint::Chain> choose_checkpoint(Program& program, checkpoint::Store& store,
                                            std::optional<std::int64_t> step,
                                            const checkpoint::StoreCall& call);
Result<std::set<std::int64_t>> pinned_steps(checkpoint::Store& store,
                                            const checkpoint::StoreCall& call);

}  // namespace amdahl::cli
