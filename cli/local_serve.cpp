// The hidden verb that `local up` starts in the background.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/local_server.hpp"
#include "cli/verbs.hpp"
#include "local/cluster/server_process.hpp"

namespace amdahl::cli {
namespace {

Result<int> serve(Program& program, const LocalOptions& options) {
  ::fcntl(local::kReportFd, F_SETFD, FD_CLOEXEC);  // containers must not keep it open
  ::prctl(PR_SET_NAME, "amdahl");  // started as /proc/self/exe, it would be "exe" in top
  const ServerEvents events{
      .progress =
          [](std::string_view step) { local::report_start("progress " + std::string(step)); },
      .ready =
          [](const local::LocalCluster&) {
            local::report_start("ready");
            ::close(local::kReportFd);
          }};
  const auto served = run_local_server(program, options, events);
  if (served) return kDone;
  local::report_start("failed " + served.error().context);
  return std::unexpected(served.error());
}

}  // namespace

void add_local_serve(CLI::App& local, Program& program, Action& action) {
  CLI::App* verb = local.add_subcommand("serve", "Run the cluster for 'local up'.");
  verb->group("");  // not in the help: it expects to be started by up
  const auto options = std::make_shared<LocalOptions>();
  add_local_options(*verb, *options);
  verb->callback([&program, &action, options] {
    action = [&program, options] { return serve(program, *options); };
  });
}

}  // namespace amdahl::cli
