#include <CLI/CLI.hpp>
#include <memory>

#include "cli/checkpoint_place.hpp"
#include "cli/checkpoint_text.hpp"
#include "cli/object_text.hpp"
#include "cli/verbs.hpp"

namespace amdahl::cli {
namespace {

struct ShowOptions {
  PlaceOptions place = {};
  std::optional<std::int64_t> step = {};
  bool tensors = false;
  std::string output = {};
};

Result<int> show(Program& program, const ShowOptions& options) {
  TRY(const StorePtr store, open_place(program, options.place));
  const auto call = call_within(program, kRecordsDeadline);
  TRY(const auto chain, choose_checkpoint(program, *store, options.step, call));
  TRY(const auto pinned, pinned_steps(*store, call));
  const bool kept = pinned.contains(chain.front().step());
  program.terminal.out(options.output.empty()
                           ? checkpoint_text(chain, kept, options.tensors)
                           : object_text(checkpoint_json(chain, kept), options.output));
  return kDone;
}

}  // namespace

void add_checkpoint_show(CLI::App& group, Program& program, Action& action) {
  CLI::App* verb = group.add_subcommand("show", "Show one checkpoint: its records are checked.");
  const auto options = std::make_shared<ShowOptions>();
  add_place_options(*verb, options->place);
  verb->add_option("--step", options->step, "default: the newest that can be used")->type_name("N");
  verb->add_flag("--tensors", options->tensors, "list them, with their types and shapes");
  verb->add_option("-o,--output", options->output, "json or yaml, with all tensors")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"json", "yaml"}).description(""));
  verb->footer(place_help() + access_help() +
               "\nExample:\n  amdahl checkpoint show llama-ft --step 4000 --tensors\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return show(program, *options); };
  });
}

}  // namespace amdahl::cli
