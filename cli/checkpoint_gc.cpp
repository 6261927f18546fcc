#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "checkpoint/engine/collector.hpp"
#include "checkpoint/format/owner.hpp"
#include "cli/checkpoint_place.hpp"
#include "cli/checkpoint_text.hpp"
#include "cli/number_option.hpp"
#include "cli/text_layout.hpp"
#include "cli/verbs.hpp"
#include "operator/kube/quantity.hpp"

namespace amdahl::cli {
namespace {

constexpr int kRemovers = 8;

struct GcOptions {
  PlaceOptions place = {};
  // Given by flags; what is not is the job's, or the default of an address.
  std::optional<std::int32_t> keep_last = {};
  std::optional<std::int64_t> keep_every_steps = {};
  std::optional<std::int64_t> bytes_max = {};
  bool dry_run = false;
  bool job_has_ended = false;
};

checkpoint::RetentionPolicy policy_of(const GcOptions& options, const Place& place) {
  checkpoint::RetentionPolicy policy;
  if (place.job) {
    const api::RetentionSpec& keep = place.job->spec.retention;
    const auto bytes = kube::Quantity::parse(keep.bytes_max);
    policy.keep_last = keep.keep_last;
    policy.keep_every_steps = keep.keep_every_steps;
    policy.bytes_max = bytes ? bytes->value() : 0;
  }
  policy.keep_last = options.keep_last.value_or(policy.keep_last);
  policy.keep_every_steps = options.keep_every_steps.value_or(policy.keep_every_steps);
  policy.bytes_max = options.bytes_max.value_or(policy.bytes_max);
  return policy;
}

// A job may name a prefix that it was refused, or a path that is another job's on this machine.
Result<void> check_its_own(const Program& program, const Place& place,
                           const checkpoint::Owner& owner, const checkpoint::Store& store) {
  if (!place.job || place.job->uid == owner.job_uid) return {};
  return fail(Errc::kForbidden,
              "{} belongs to {} (UID {}) and not to TrainingJob {} (UID {}): nothing was removed. "
              "Give that job another checkpoint.uri. To collect this place anyway, name it: '{} "
              "checkpoint gc {}'",
              store.describe(), checkpoint::owner_in_words(owner, place.job->name),
              one_line(owner.job_uid), place.job->name, place.job->uid, program.called,
              place.address);
}

Result<int> collect(Program& program, const GcOptions& options) {
  TRY(const Place place, find_place(program, options.place));
  TRY(const StorePtr store, open_found(program, options.place, place));
  const auto call = call_within(program, kObjectsDeadline);
  const auto text = checkpoint::read_whole(*store, "owner.jsonl", checkpoint::kOwnerBytesMax, call);
  if (!text && text.error().code == Errc::kNotFound)
    return fail(Errc::kNotFound, "{}: no job has saved there, so nothing in it is ours to remove",
                store->describe());
  if (!text) return std::unexpected<Error>(text.error());
  TRY(const checkpoint::Owner owner, checkpoint::read_owner(*text));
  TRY(check_its_own(program, place, owner, *store));
  checkpoint::Collector collector(*store, owner.job_uid);
  checkpoint::CollectOptions wanted{.policy = policy_of(options, place),
                                    .saves = {.alone = options.job_has_ended},
                                    .dry_run = options.dry_run,
                                    .threads = kRemovers};
  if (options.job_has_ended) wanted.leftovers_before = program.clock.wall();
  TRY(const checkpoint::Collected collected, collector.collect(wanted, call));
  program.terminal.out(collection_text(collected, options.dry_run));
  return kDone;
}

}  // namespace

void add_checkpoint_gc(CLI::App& group, Program& program, Action& action) {
  CLI::App* verb = group.add_subcommand("gc", "Remove checkpoints that are not to be kept.");
  const auto options = std::make_shared<GcOptions>();
  add_place_options(*verb, options->place);
  verb->add_flag("--dry-run", options->dry_run, "say what would go, and remove nothing");
  verb->add_option("--keep-last", options->keep_last,
                   "how many of the newest stay (default: the job's retention, or 3)")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000).description(""));
  take_from(0, *verb->add_option("--keep-every", options->keep_every_steps,
                                 "those at multiples of N stay too")
                    ->type_name("N"));
  take_from(0, *verb->add_option("--bytes-max", options->bytes_max,
                                 "older ones go until the rest is no larger")
                    ->type_name("BYTES"));
  verb->add_flag("--job-has-ended", options->job_has_ended,
                 "no pod of the job runs: unfinished saves go too");
  verb->footer(
      "The newest checkpoint, pinned ones and what they stand on always stay, and so does\n"
      "everything that is not ours. For a job, nothing is removed from a place that belongs to\n"
      "another job; for an address, the owner does not matter. Without --job-has-ended saves\n"
      "without a commit stay, because a trainer may still be writing them. For a job, its\n"
      "spec.checkpoint.retention says what stays, except where a flag says otherwise.\n" +
      place_help() + access_help() +
      "\nExamples:\n  amdahl checkpoint gc llama-ft --dry-run\n"
      "  amdahl checkpoint gc gs://bucket/llama-ft --keep-last 1 --job-has-ended\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return collect(program, *options); };
  });
}

}  // namespace amdahl::cli
