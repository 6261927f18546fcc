#include "cli/job_wait.hpp"

#include <CLI/CLI.hpp>

#include "base/duration.hpp"
#include "cli/job_explain.hpp"
#include "cli/live_job.hpp"

namespace amdahl::cli {
namespace {

int time_is_up(Program& program, const LiveJob& live, const std::string& what) {
  const Explanation why = explain(live.seen());
  std::string text = fmt::format("amdahl: {} is not yet {}: {} ({})", live.job().metadata.name,
                                 what, why.phase, why.summary);
  if (!why.evidence.empty()) text += "; " + why.evidence.front();
  program.terminal.err(text + "\n");
  return kTimedOut;
}

Task<Result<int>> wait_with(Program& program, WaitJudge judge, WaitOptions options, LiveJob& live) {
  for (;;) {
    if (!live.exists()) {
      program.terminal.err(fmt::format("amdahl: {} was deleted\n", live.job().metadata.name));
      co_return kFailed;
    }
    if (const auto end = judge(live.job())) {
      if (end->code == kDone)
        program.terminal.out(end->said + "\n");
      else
        program.terminal.err("amdahl: " + end->said + "\n");
      co_return end->code;
    }
    const auto changed = co_await live.changed(options.deadline);
    if (!changed && changed.error().code == Errc::kTimeout)
      co_return time_is_up(program, live, options.what);
    if (!changed) co_return std::unexpected<Error>(changed.error());
  }
}

}  // namespace

Task<Result<int>> wait_for_job(Program& program, Access access, std::string name, WaitJudge judge,
                               WaitOptions options) {
  co_return co_await with_live_job(
      program, std::move(access), std::move(name), JobParts::kJobOnly,
      [&](LiveJob& live) { return wait_with(program, judge, options, live); });
}

void add_timeout_option(CLI::App& verb, std::optional<std::chrono::nanoseconds>& timeout,
                        const std::string& description) {
  verb.add_option_function<std::string>(
          "--timeout",
          [&timeout](const std::string& text) {
            const auto span = parse_go_duration(text);
            if (!span || *span < std::chrono::nanoseconds{0})
              throw CLI::ValidationError("--timeout",
                                         "\"" + text + "\" is no span of time such as 90s");
            timeout = *span;
          },
          description)
      ->type_name("D");
}

Monotonic deadline_in(const Program& program, std::optional<std::chrono::nanoseconds> timeout) {
  return timeout ? program.clock.monotonic() + *timeout : Monotonic::max();
}

}  // namespace amdahl::cli
