// The verbs of `amdahl`: each adds itself to the command line, and sets the action when it is
// chosen. One file a verb; CLI11 stays out of headers, because it is slow to compile.
#pragma once

#include "cli/program.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace amdahl::cli {

void add_local(CLI::App& app, Program& program, Action& action);
void add_local_up(CLI::App& local, Program& program, Action& action);
void add_local_serve(CLI::App& local, Program& program, Action& action);
void add_local_status(CLI::App& local, Program& program, Action& action);
void add_local_down(CLI::App& local, Program& program, Action& action);
void add_local_reset(CLI::App& local, Program& program, Action& action);

void add_checkpoint(CLI::App& app, Program& program, Action& action);
void add_checkpoint_ls(CLI::App& group, Program& program, Action& action);
void add_checkpoint_show(CLI::App& group, Program& program, Action& action);
void add_checkpoint_verify(CLI::App& group, Program& program, Action& action);
void add_checkpoint_gc(CLI::App& group, Program& program, Action& action);
void add_checkpoint_pin(CLI::App& group, Program& program, Action& action);
void add_checkpoint_unpin(CLI::App& group, Program& program, Action& action);
void add_checkpoint_export(CLI::App& group, Program& program, Action& action);

void add_submit(CLI::App& app, Program& program, Action& action);
void add_describe(CLI::App& app, Program& program, Action& action);
void add_diagnose(CLI::App& app, Program& program, Action& action);
void add_pause(CLI::App& app, Program& program, Action& action);
void add_resume(CLI::App& app, Program& program, Action& action);
void add_cancel(CLI::App& app, Program& program, Action& action);
void add_rerun(CLI::App& app, Program& program, Action& action);
void add_wait(CLI::App& app, Program& program, Action& action);
void add_top(CLI::App& app, Program& program, Action& action);

void add_apply(CLI::App& app, Program& program, Action& action);
void add_get(CLI::App& app, Program& program, Action& action);
void add_delete(CLI::App& app, Program& program, Action& action);
void add_logs(CLI::App& app, Program& program, Action& action);
void add_completion(CLI::App& app, Program& program, Action& action);
void add_version(CLI::App& app, Program& program, Action& action);

}  // namespace amdahl::cli
