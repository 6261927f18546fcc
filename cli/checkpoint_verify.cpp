#include <CLI/CLI.hpp>
#include <memory>

#include "checkpoint/engine/scrub.hpp"
#include "cli/checkpoint_place.hpp"
#include "cli/checkpoint_text.hpp"
#include "cli/text_layout.hpp"
#include "cli/verbs.hpp"

namespace amdahl::cli {
namespace {

constexpr int kReadersMax = 64;

struct VerifyOptions {
  PlaceOptions place = {};
  std::optional<std::int64_t> step = {};
  bool all = false;
  int readers = 4;
};

// Whether one step can be used to the last byte. A store that does not answer is an error.
Result<bool> verify_step(Program& program, checkpoint::Store& store, std::int64_t step,
                         int readers) {
  const auto call = call_within(program, kObjectsDeadline);
  const auto bad = [&](std::string_view why) {
    program.terminal.out(fmt::format("step {}: BAD: {}\n", step, one_line(why)));
    return false;
  };
  const auto chain = checkpoint::fetch_chain(store, step, call);
  if (!chain && checkpoint::is_damage(chain.error().code)) return bad(chain.error().context);
  if (!chain) return std::unexpected<Error>(chain.error());
  std::int64_t objects = 0;
  std::int64_t bytes = 0;
  // What deltas stand on is part of it.
  for (const checkpoint::Checkpoint& one : *chain) {
    TRY(const auto scrubbed, checkpoint::verify_objects(store, one, readers, call));
    for (const std::string& text : scrubbed.bad) program.terminal.out("  " + one_line(text) + "\n");
    if (scrubbed.bad_objects > 0)
      return bad(fmt::format("{} of {} objects", scrubbed.bad_objects, scrubbed.objects));
    objects += scrubbed.objects;
    bytes += scrubbed.bytes;
  }
  program.terminal.out(fmt::format("step {}: ok, {} in {} object{}\n", step, bytes_text(bytes),
                                   objects, objects == 1 ? "" : "s"));
  return true;
}

Result<int> verify(Program& program, const VerifyOptions& options) {
  TRY(const StorePtr store, open_place(program, options.place));
  std::vector<std::int64_t> steps;
  if (options.step) {
    TRY(check_committed(*store, *options.step, call_within(program, kRecordsDeadline)));
    steps = {*options.step};
  } else {
    TRY(steps, checkpoint::fetch_steps(*store, call_within(program, kRecordsDeadline)));
    if (!options.all && steps.size() > 1) steps.resize(1);
  }
  if (steps.empty())
    return fail(Errc::kNotFound, "{}: no checkpoint is committed there", store->describe());
  bool good = true;
  for (const std::int64_t step : steps) {
    TRY(const bool fine, verify_step(program, *store, step, options.readers));
    good = good && fine;
  }
  return good ? kDone : kFailed;
}

}  // namespace

void add_checkpoint_verify(CLI::App& group, Program& program, Action& action) {
  CLI::App* verb =
      group.add_subcommand("verify", "Read every byte of a checkpoint and check all sums.");
  const auto options = std::make_shared<VerifyOptions>();
  add_place_options(*verb, options->place);
  auto* step = verb->add_option("--step", options->step, "default: the newest")->type_name("N");
  verb->add_flag("--all", options->all, "all of them")->excludes(step);
  verb->add_option("--readers", options->readers, "objects that are read at once (default 4)")
      ->type_name("N")
      ->check(CLI::Range(1, kReadersMax).description(""));
  verb->footer("Exit code 1 when anything is damaged; the object and the chunk are named.\n" +
               place_help() + access_help() +
               "\nExamples:\n  amdahl checkpoint verify llama-ft\n"
               "  amdahl checkpoint verify s3://bucket/llama-ft --all\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return verify(program, *options); };
  });
}

}  // namespace amdahl::cli
