#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/cluster_access.hpp"
#include "cli/local_options.hpp"
#include "cli/verbs.hpp"
#include "local/cluster/server_process.hpp"
#include "operator/kube/api.hpp"
#include "operator/kube/types_core.hpp"

namespace amdahl::cli {
namespace {

constexpr std::string_view kCount = "apiserver_storage_objects{";

struct StatusOptions {
  std::string data = {};
  std::string output = {};
};

// What the server itself answers; -1: it did not.
struct Answered {
  std::int64_t nodes = -1;
  std::int64_t objects = -1;
};

std::int64_t sum_objects(std::string_view metrics) {
  std::int64_t sum = 0;
  while (!metrics.empty()) {
    const std::size_t end = std::min(metrics.find('\n'), metrics.size());
    const std::string_view line = metrics.substr(0, end);
    metrics.remove_prefix(std::min(end + 1, metrics.size()));
    const std::size_t space = line.rfind(' ');
    if (!line.starts_with(kCount) || space == std::string_view::npos) continue;
    std::int64_t count = 0;
    std::from_chars(line.data() + space + 1, line.data() + line.size(), count);
    sum += count;
  }
  return sum;
}

Task<Result<int>> ask(kube::Client& client, Answered& answered) {
  CO_TRY(const auto metrics, co_await client.send(kube::discover_request("/metrics")));
  answered.objects = sum_objects(metrics.body);
  CO_TRY(const auto nodes, co_await kube::Api<kube::Node>(client).list_all());
  answered.nodes = static_cast<std::int64_t>(nodes.items.size());
  co_return kDone;
}

std::uintmax_t disk_bytes(const local::DataFolder& folder) {
  std::uintmax_t sum = 0;
  std::error_code error;
  using Walk = std::filesystem::recursive_directory_iterator;
  for (Walk at(folder.path(), error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored) && !at->is_symlink(ignored)) {
      const std::uintmax_t size = at->file_size(ignored);
      if (!ignored) sum += size;
    }
  }
  return sum;
}

std::string shown_duration(std::chrono::seconds time) {
  const auto count = std::max<std::int64_t>(time.count(), 0);
  if (count < 60) return fmt::format("{}s", count);
  if (count < 3600) return fmt::format("{}m{}s", count / 60, count % 60);
  if (count < 86'400) return fmt::format("{}h{}m", count / 3600, count / 60 % 60);
  return fmt::format("{}d{}h", count / 86'400, count / 3600 % 24);
}

std::string shown_bytes(std::uintmax_t bytes) {
  if (bytes < 1024 * 1024) return fmt::format("{} KiB", (bytes + 1023) / 1024);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024 * 1024));
}

Json report(Program& program, const local::DataFolder& folder,
            const std::optional<local::RunningServer>& running) {
  const bool ready = running && running->status;
  Json all = {{"state", ready     ? "running"
                        : running ? "starting"
                                  : "stopped"},
              {"data", folder.path()},
              {"kubeconfig", folder.file("kubeconfig")},
              {"diskBytes", disk_bytes(folder)}};
  if (running) all["pid"] = running->pid;
  if (!ready) return all;
  all["address"] = local::server_url(running->status->port);
  all["inMemory"] = running->status->in_memory;
  all["started"] = running->status->started;
  if (const auto started = parse_time(running->status->started))
    all["uptimeSeconds"] =
        std::chrono::duration_cast<std::chrono::seconds>(program.clock.wall() - *started).count();
  Answered answered;
  const auto config = find_cluster(program, {.kubeconfig = folder.file("kubeconfig")});
  const auto asked =
      config ? with_cluster(program, *config,
                            [&answered](Access access) { return ask(access.client, answered); })
             : Result<int>(std::unexpected(config.error()));
  if (asked) {
    all["nodes"] = answered.nodes;
    all["objects"] = answered.objects;
  } else {
    all["problem"] = asked.error().context;
  }
  return all;
}

std::string as_text(const Json& all) {
  std::string text;
  const auto line = [&text](std::string_view name, const std::string& value) {
    text += fmt::format("{:<12}{}\n", name, value);
  };
  line("state", all["state"].get<std::string>());
  if (all.contains("pid")) line("pid", all["pid"].dump());
  if (all.contains("address")) line("address", all["address"].get<std::string>());
  if (all.contains("uptimeSeconds"))
    line("uptime", shown_duration(std::chrono::seconds{all["uptimeSeconds"].get<std::int64_t>()}));
  if (all.contains("nodes")) line("nodes", all["nodes"].dump());
  if (all.contains("objects"))
    line("objects", all["objects"].dump() + (all["inMemory"] == true ? " (in memory only)" : ""));
  if (all.contains("problem")) line("problem", all["problem"].get<std::string>());
  line("data", all["data"].get<std::string>());
  line("disk", shown_bytes(all["diskBytes"].get<std::uintmax_t>()));
  if (all["state"] == "running") line("kubeconfig", all["kubeconfig"].get<std::string>());
  return text;
}

Result<int> status(Program& program, const StatusOptions& options) {
  TRY(const auto folder, local::DataFolder::choose(options.data, program.environment));
  TRY(const auto running, local::find_server(folder));
  const Json all = report(program, folder, running);
  program.terminal.out(options.output == "json" ? all.dump(2) + "\n" : as_text(all));
  if (all.contains("problem")) return kFailed;
  return running ? kDone : kNotRunning;
}

}  // namespace

void add_local_status(CLI::App& local, Program& program, Action& action) {
  CLI::App* verb = local.add_subcommand("status", "Show whether the cluster runs, and where.");
  const auto options = std::make_shared<StatusOptions>();
  add_data_option(*verb, options->data);
  verb->add_option("-o,--output", options->output, "json: for programs")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"json"}).description(""));
  verb->footer(
      "Exit code 0 when it runs, 3 when it does not, 1 when it runs and does not answer.\n"
      "\nExample:\n  amdahl local status -o json\n");
  verb->callback([&program, &action, options] {
    action = [&program, options] { return status(program, *options); };
  });
}

}  // namespace amdahl::cli
