#include "cli/checkpoint_place.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "base/rng.hpp"
#include "checkpoint/engine/trusted_store.hpp"
#include "checkpoint/store/open_store.hpp"
#include "cli/text_layout.hpp"
#include "cli/training_jobs.hpp"

namespace amdahl::cli {
namespace {

constexpr std::string_view kFileScheme = "file://";

bool is_address(std::string_view where) {
  return where.starts_with('/') || where.find("://") != where.npos;
}

Task<Result<int>> find_address(Access access, std::string name, Place& place) {
  CO_TRY(const TrainingJob job, co_await find_job(access, name));
  if (job.spec.checkpoint.uri.empty())
    co_return fail(Errc::kNotFound,
                   "TrainingJob {} keeps no checkpoints: spec.checkpoint.uri is not set", name);
  place.job = {.name = to_string(kube::ObjectKey{.ns = job.metadata.ns, .name = job.metadata.name}),
               .uid = job.metadata.uid,
               .spec = job.spec.checkpoint};
  place.address = job.spec.checkpoint.uri;
  if (!is_here(place.address))
    co_return fail(Errc::kNotFound,
                   "TrainingJob {} keeps checkpoints in {}, a path inside its containers which is "
                   "not on this machine: nothing was saved yet, or this must run where the volume "
                   "is mounted, with its path there",
                   name, one_line(place.address));
  co_return kDone;
}

}  // namespace

bool is_here(std::string_view address) {
  if (address.starts_with(kFileScheme)) address.remove_prefix(kFileScheme.size());
  std::error_code unknown;
  return !address.starts_with('/') || std::filesystem::exists(address, unknown) || unknown;
}

void add_place_options(CLI::App& verb, PlaceOptions& options) {
  verb.add_option("WHERE", options.where, "an address, or the name of a training job")->required();
  verb.add_option("--trust", options.trusted_keys,
                  "only what a key of this PEM file signed; $AMDAHL_CHECKPOINT_TRUSTED_KEYS")
      ->type_name("FILE");
  add_access_options(verb, options.access);
}

std::string place_help() {
  return "WHERE is /path, file:///path, gs://bucket/prefix or s3://bucket/prefix, or the name of "
         "a\n"
         "TrainingJob: then it is its spec.checkpoint.uri, reached from this machine with this\n"
         "machine's credentials (docs/reference/checkpoint-stores.md).\n";
}

Result<Place> find_place(Program& program, const PlaceOptions& options) {
  Place place{.address = options.where};
  if (is_address(place.address)) return place;
  TRY(const auto config, find_cluster(program, options.access));
  TRY(with_cluster(program, config, [&](Access access) {
    return find_address(std::move(access), job_name(options.where), place);
  }));
  return place;
}

Result<StorePtr> open_place(Program& program, const PlaceOptions& options) {
  TRY(const Place place, find_place(program, options));
  return open_found(program, options, place);
}

Result<StorePtr> open_found(Program& program, const PlaceOptions& options, const Place& place) {
  const auto variable = [&program](std::string_view name) {
    const auto found = program.environment.variables.find(std::string(name));
    return found == program.environment.variables.end() ? std::string() : found->second;
  };
  TRY(StorePtr store,
      checkpoint::open_store(
          place.address, {.clock = program.clock, .rng = Rng(program.seed), .variable = variable}));
  const std::string keys = options.trusted_keys.empty() ? variable("AMDAHL_CHECKPOINT_TRUSTED_KEYS")
                                                        : options.trusted_keys;
  return checkpoint::trusting(std::move(store), keys, "");
}

checkpoint::StoreCall call_within(const Program& program, std::chrono::nanoseconds span) {
  return {.deadline = program.clock.monotonic() + span};
}

Result<void> check_committed(checkpoint::Store& store, std::int64_t step,
                             const checkpoint::StoreCall& call) {
  TRY(const auto steps, checkpoint::fetch_steps(store, call));
  if (std::ranges::find(steps, step) != steps.end()) return {};
  return fail(Errc::kNotFound,
              "{}: step {} is not committed there; amdahl checkpoint ls {} shows what is",
              store.describe(), step, store.describe());
}

Result<checkpoint::Chain> choose_checkpoint(Program& program, checkpoint::Store& store,
                                            std::optional<std::int64_t> step,
                                            const checkpoint::StoreCall& call) {
  if (step) {
    TRY(check_committed(store, *step, call));
    return checkpoint::fetch_chain(store, *step, call);
  }
  TRY(checkpoint::Newest newest, checkpoint::fetch_newest(store, call));
  for (const checkpoint::PassedOver& one : newest.passed_over)
    program.terminal.err(fmt::format("step {} cannot be used: {}\n", one.step, one_line(one.why)));
  if (newest.chain.empty())
    return fail(Errc::kNotFound, "{}: no checkpoint is committed there", store.describe());
  return std::move(newest.chain);
}

Result<std::set<std::int64_t>> pinned_steps(checkpoint::Store& store,
                                            const checkpoint::StoreCall& call) {
  TRY(const auto listed, checkpoint::list_all(store, "pins/", call));
  std::set<std::int64_t> pinned;
  for (const checkpoint::StoredObject& object : listed)
    if (const auto name = checkpoint::parse_name(object.name)) pinned.insert(name->step);
  return pinned;
}

}  // namespace amdahl::cli
