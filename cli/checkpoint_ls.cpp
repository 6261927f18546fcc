#include <CLI/CLI.hpp>
#include <memory>

#include "cli/checkpoint_place.hpp"
#include "cli/checkpoint_text.hpp"
#include "cli/object_text.hpp"
#include "cli/verbs.hpp"

namespace amdahl::cli {
namespace {

struct LsOptions {
  PlaceOptions place = {};
  std::string output = {};
};

Result<int> ls(Program& program, const LsOptions& options) {
  TRY(const StorePtr store, open_place(program, options.place));
  const auto call = call_within(program, kRecordsDeadline);
  TRY(const auto steps, checkpoint::fetch_steps(*store, call));
  TRY(const auto pinned, pinned_steps(*store, call));
  std::vector<CheckpointRow> rows;
  for (const std::int64_t step : steps) {
    CheckpointRow row{.step = step, .pinned = pinned.contains(step)};
    auto manifest = checkpoint::fetch_manifest(*store, step, call);
    if (manifest)
      row.manifest = *std::move(manifest);
    else if (checkpoint::is_damage(manifest.error().code))
      row.damage = manifest.error().context;
    else
      return std::unexpected<Error>(std::move(manifest).error());
    rows.push_back(std::move(row));
  }
  if (!options.output.empty())
    program.terminal.out(object_text(checkpoints_json(rows), options.output));
  else if (rows.empty())
    program.terminal.out(fmt::format("No checkpoint is committed in {}.\n", store->describe()));
  else
    program.terminal.out(checkpoints_table(rows));
  return kDone;
}

}  // namespace

void add_checkpoint_ls(CLI::App& group, Program& program, Action& action) {
  CLI::App* verb = group.add_subcommand("ls", "List committed checkpoints, newest first.");
  const auto options = std::make_shared<LsOptions>();
  add_place_options(*verb, options->place);
  verb->add_option("-o,--output", options->output, "json or yaml, with whole manifests")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"json", "yaml"}).description(""));
  verb->footer(place_help() + access_help() +
               "\nExamples:\n  amdahl checkpoint ls llama-ft\n"
               "  amdahl checkpoint ls /mnt/checkpoints/llama-ft -o json\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return ls(program, *options); };
  });
}

}  // namespace amdahl::cli
