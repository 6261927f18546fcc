#include "cli/local_options.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "operator/kube/quantity.hpp"

namespace amdahl::cli {
namespace {

constexpr std::int32_t kPortMax = 65535;

Result<void> check_quantity(std::string_view flag, const std::string& text) {
  const auto amount = kube::Quantity::parse(text);
  if (!amount) return fail(Errc::kInvalid, "{} {}: {}", flag, text, amount.error().context);
  if (*amount <= kube::Quantity::from_integer(0))
    return fail(Errc::kInvalid, "{} {}: it must be more than nothing", flag, text);
  return {};
}

}  // namespace

void add_data_option(CLI::App& verb, std::string& data) {
  verb.add_option("--data", data, "folder of the cluster (default ~/.amdahl/local)")
      ->type_name("DIR");
}

void add_local_options(CLI::App& verb, LocalOptions& options) {
  add_data_option(verb, options.data);
  verb.add_option("--nodes", options.nodes, "how many nodes it has (default 1)")
      ->type_name("N")
      ->check(CLI::Range(1, kNodesMax).description(""));
  verb.add_option("--gpus", options.gpus, "nvidia.com/gpu of each node (default 0)")
      ->type_name("G")
      ->check(CLI::Range(0, kGpusMax).description(""));
  verb.add_option("--cpu", options.cpu,
                  "cpu of each node, \"8\" or \"500m\" (default: this machine's)")
      ->type_name("C");
  verb.add_option("--memory", options.memory,
                  "memory of each node, \"16Gi\" (default: this machine's)")
      ->type_name("M");
  verb.add_option("--host-path-root", options.host_path_root,
                  "pods may mount hostPath volumes below this folder (default: none may)")
      ->type_name("DIR");
  verb.add_option("--port", options.port,
                  "port on 127.0.0.1; 0: any free one (default: that of the last start)")
      ->type_name("P")
      ->check(CLI::Range(0, kPortMax).description(""));
  verb.add_flag("--in-memory", options.in_memory,
                "keep objects in memory only; they are gone when the cluster stops");
  verb.add_flag("--no-operator", options.no_operator,
                "nothing runs TrainingJobs: for an amdahl-operator of your own");
}

Result<local::NodeShape> nodes_of(const LocalOptions& options, local::NodeShape last) {
  if (options.nodes) last.count = *options.nodes;
  if (options.gpus) last.gpus = *options.gpus;
  if (!options.cpu.empty()) {
    TRY(check_quantity("--cpu", options.cpu));
    last.cpu = options.cpu;
  }
  if (!options.memory.empty()) {
    TRY(check_quantity("--memory", options.memory));
    last.memory = options.memory;
  }
  return last;
}

Result<std::string> host_path_root_of(const LocalOptions& options, std::string last) {
  if (!options.host_path_root || options.host_path_root->empty())
    return options.host_path_root.value_or(std::move(last));
  std::error_code error;
  const auto root = std::filesystem::canonical(*options.host_path_root, error);
  if (error || !std::filesystem::is_directory(root, error))
    return fail(Errc::kInvalid, "--host-path-root {}: {}", *options.host_path_root,
                error ? error.message() : "it is no folder");
  return root.string();
}

std::vector<std::string> words_of(const LocalOptions& options) {
  std::vector<std::string> words = {"--data", options.data};
  const auto add = [&words](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  if (options.port) add("--port", std::to_string(*options.port));
  if (options.nodes) add("--nodes", std::to_string(*options.nodes));
  if (options.gpus) add("--gpus", std::to_string(*options.gpus));
  add("--cpu", options.cpu);
  add("--memory", options.memory);
  if (options.host_path_root)
    words.insert(words.end(), {"--host-path-root", *options.host_path_root});
  if (options.in_memory) words.emplace_back("--in-memory");
  if (options.no_operator) words.emplace_back("--no-operator");
  return words;
}

}  // namespace amdahl::cli
