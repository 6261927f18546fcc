// The flags of `local up` and of the server it starts, which are the same.
//
// Plain data. Failure: check() names the flag and what it takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "local/cluster/cluster.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace amdahl::cli {

inline constexpr std::int32_t kNodesMax = 1000;
inline constexpr std::int32_t kGpusMax = 64;

struct LocalOptions {
  std::string data = {};
  std::optional<std::int32_t> port = {};
  std::optional<std::int32_t> nodes = {};
  std::optional<std::int32_t> gpus = {};
  std::string cpu = {};
  std::string memory = {};
  std::optional<std::string> host_path_root = {};
  bool in_memory = false;
  bool no_operator = false;
};

void add_data_option(CLI::App& verb, std::string& data);
void add_local_options(CLI::App& verb, LocalOptions& options);

// The nodes asked for, on top of those of the last start.
Result<local::NodeShape> nodes_of(const LocalOptions& options, local::NodeShape last);
// The folder below which hostPath volumes may be, as an absolute path; empty: nowhere.
Result<std::string> host_path_root_of(const LocalOptions& options, std::string last);
// As words for the server's own command line.
std::vector<std::string> words_of(const LocalOptions& options);

}  // namespace amdahl::cli
