#include <CLI/CLI.hpp>
#include <memory>

#include "checkpoint/engine/scrub.hpp"
#include "cli/checkpoint_place.hpp"
#include "cli/checkpoint_text.hpp"
#include "cli/verbs.hpp"

namespace amdahl::cli {
namespace {

struct ExportOptions {
  PlaceOptions place = {};
  std::string file = {};
  std::optional<std::int64_t> step = {};
};

Result<int> export_one(Program& program, const ExportOptions& options) {
  TRY(const StorePtr store, open_place(program, options.place));
  const auto call = call_within(program, kObjectsDeadline);
  TRY(const auto chain, choose_checkpoint(program, *store, options.step, call));
  TRY(const std::int64_t bytes, checkpoint::export_safetensors(*store, chain, options.file, call));
  program.terminal.out(fmt::format("Step {} is in {}: {}, every byte checked.\n",
                                   chain.front().step(), options.file, bytes_text(bytes)));
  return kDone;
}

}  // namespace

void add_checkpoint_export(CLI::App& group, Program& program, Action& action) {
  CLI::App* verb = group.add_subcommand("export-safetensors",
                                        "Write all tensors of a checkpoint into one file.");
  const auto options = std::make_shared<ExportOptions>();
  add_place_options(*verb, options->place);
  verb->add_option("FILE", options->file, "a new file")->required();
  verb->add_option("--step", options->step, "default: the newest that can be used")->type_name("N");
  verb->footer(
      "Tensors that ranks held in parts are put together; deltas are resolved. Optimizer state is\n"
      "among the tensors; what is no tensor is left out.\n" +
      place_help() + access_help() +
      "\nExample:\n  amdahl checkpoint export-safetensors llama-ft llama-ft.safetensors\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return export_one(program, *options); };
  });
}

}  // namespace amdahl::cli
