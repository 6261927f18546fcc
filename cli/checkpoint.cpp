#include <CLI/CLI.hpp>

#include "cli/verbs.hpp"

namespace amdahl::cli {

void add_checkpoint(CLI::App& app, Program& program, Action& action) {
  CLI::App* group =
      app.add_subcommand("checkpoint", "Look at, verify, keep and clean up checkpoints.");
  group->require_subcommand(1);
  group->footer(
      "Works on a directory or a bucket, without a cluster and without torch.\n"
      "\nExample:\n  amdahl checkpoint ls gs://bucket/llama-ft\n");
  add_checkpoint_ls(*group, program, action);
  add_checkpoint_show(*group, program, action);
  add_checkpoint_verify(*group, program, action);
  add_checkpoint_gc(*group, program, action);
  add_checkpoint_pin(*group, program, action);
  add_checkpoint_unpin(*group, program, action);
  add_checkpoint_export(*group, program, action);
}

}  // namespace amdahl::cli
