// What an embedded cluster remembers between starts, and what a running one says of itself.
//
// Plain data. Thread: any. Failure: Errc::kInvalid names a file that cannot be read as what it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "base/result.hpp"
#include "local/cluster/data_folder.hpp"

namespace amdahl::local {

// The nodes a cluster pretends to have; each is this large.
struct NodeShape {
  std::int32_t count = 1;
  std::int32_t gpus = 0;
  std::string cpu = {};     // a quantity; empty: as much as the machine has
  std::string memory = {};  // a quantity; empty: as much as the machine has
  bool operator==(const NodeShape&) const = default;
};
template <class V>
constexpr void fields(V& v, NodeShape& shape) {
  v.optional("count", shape.count);
  v.optional("gpus", shape.gpus);
  v.optional("cpu", shape.cpu);
  v.optional("memory", shape.memory);
}

struct Settings {
  std::int32_t port = 0;  // 0: not chosen yet
  NodeShape nodes = {};
  std::string host_path_root = {};            // empty: pods may not mount folders of the machine
  std::vector<std::string> merged_into = {};  // kubeconfigs of the user that have our context
  bool operator==(const Settings&) const = default;
};
template <class V>
constexpr void fields(V& v, Settings& settings) {
  v.optional("port", settings.port);
  v.optional("nodes", settings.nodes);
  v.optional("hostPathRoot", settings.host_path_root);
  v.optional("mergedInto", settings.merged_into);
}

struct ServerStatus {
  std::int64_t pid = 0;
  std::int32_t port = 0;
  std::string started = {};  // RFC 3339
  bool in_memory = false;
  bool operator==(const ServerStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, ServerStatus& status) {
  v.required("pid", status.pid);
  v.required("port", status.port);
  v.optional("started", status.started);
  v.optional("inMemory", status.in_memory);
}

// Defaults when there is no such file.
Result<Settings> read_settings(const DataFolder& folder);
Result<void> write_settings(const DataFolder& folder, const Settings& settings);

// Errc::kNotFound when no server is ready.
Result<ServerStatus> read_server_status(const DataFolder& folder);
Result<void> write_server_status(const DataFolder& folder, const ServerStatus& status);
void remove_server_status(const DataFolder& folder);

// The text of a file that is made, with `make_text`, when it is not there. For credentials.
Result<std::string> keep_secret(const DataFolder& folder, std::string_view name,
                                std::string (*make_text)());

std::string server_url(std::int32_t port);  // "https://127.0.0.1:6443"

}  // namespace amdahl::local
