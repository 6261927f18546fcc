#include <boost/asio/post.hpp>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>

#include "base/task_group.hpp"
#include "operator/kube/environment.hpp"
#include "tests/runtime/probe.hpp"

namespace amdahl::probe {
namespace {

constexpr std::chrono::seconds kCloseTime{5};

std::optional<Options> parse(std::span<char*> args) {
  if (args.size() < 2) return std::nullopt;
  Options options{.mode = args[1]};
  for (std::size_t i = 2; i + 1 < args.size(); i += 2) {
    const std::string_view flag = args[i];
    const std::string value = args[i + 1];
    if (flag == "--kubeconfig")
      options.kubeconfig = value;
    else if (flag == "--context")
      options.context = value;
    else if (flag == "--namespace")
      options.ns = value;
    else if (flag == "--labels")
      options.labels = value;
    else if (flag == "--identity")
      options.identity = value;
    else if (flag == "--workers")
      options.workers = static_cast<std::uint32_t>(std::stoul(value));
    else if (flag == "--rounds")
      options.rounds = static_cast<std::uint32_t>(std::stoul(value));
    else
      return std::nullopt;
  }
  return options;
}

Task<int> run(World& world) {
  int code = 2;
  if (world.options.mode == "watch") code = co_await watch(world);
  if (world.options.mode == "lead") code = co_await lead(world);
  if (world.options.mode == "storm") code = co_await storm(world);
  co_await world.session.close(world.clock.monotonic() + kCloseTime);
  co_return code;
}

Result<int> start(const Options& options) {
  boost::asio::io_context io;
  RealClock clock;
  Rng rng(static_cast<std::uint64_t>(clock.wall().time_since_epoch().count()));
  const kube::Environment environment = kube::process_environment();
  TRY(const kube::Config config,
      kube::load_config({.kubeconfig = options.kubeconfig, .context = options.context},
                        environment));
  TRY(const auto session, kube::Session::make(io.get_executor(), clock, rng.split(), config,
                                              environment, {.user_agent = "runtime-probe"}));
  World world{
      .io = io, .clock = clock, .rng = rng.split(), .session = *session, .options = options};
  return run_until_complete(io, run(world), {.wall = std::chrono::minutes{10}});
}

}  // namespace

void say(const Json& event) {
  std::puts(event.dump().c_str());
  std::fflush(stdout);
}

}  // namespace amdahl::probe

int main(int argc, char** argv) {
  const auto options = amdahl::probe::parse(std::span(argv, static_cast<std::size_t>(argc)));
  if (!options) {
    std::fputs(
        "usage: runtime_probe watch|lead|storm --kubeconfig FILE [--context C] [--namespace N]\n"
        "  watch --labels SELECTOR   lead --identity NAME   storm --workers N --rounds N\n",
        stderr);
    return 2;
  }
  const auto code = amdahl::probe::start(*options);
  if (!code) std::fprintf(stderr, "runtime_probe: %s\n", code.error().context.c_str());
  return code ? *code : 1;
}
