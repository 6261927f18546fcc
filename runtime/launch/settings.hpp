// What the environment tells the launcher. Read once, at the start.
//
// Pure. Failure: none: a variable that is missing or wrong leaves its default, and a complaint says
// so; the trainer runs in any case.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/launch/grace.hpp"
#include "runtime/launch/variables.hpp"

namespace amdahl::launch {

inline constexpr std::int64_t kNodesMax = 4096;
inline constexpr std::chrono::seconds kHostWaitDefault{600};  // torch gives up a join after as long
inline constexpr std::chrono::seconds kHostWaitMax{24 * 3600};

enum class Runtime : std::uint8_t { kPython, kTorchrun, kDeepSpeed };

struct ReportTarget {
  bool tls = false;
  std::string host = {};
  std::uint16_t port = 0;
  std::string path = "/";
  bool operator==(const ReportTarget&) const = default;
};
// "https://host:port/path"; nothing else is taken.
std::optional<ReportTarget> parse_report_url(std::string_view url);

struct Settings {
  Runtime runtime = Runtime::kPython;
  std::string job = {};
  std::string job_uid = {};
  std::string pod = {};
  std::string pod_uid = {};
  std::int64_t attempt = 0;
  std::int64_t rank = 0;  // of the node
  std::int64_t nodes = 1;
  std::int64_t slots = 1;  // processes on a node, for the hostfile
  std::string master = {};
  std::string host_pattern = {};  // "llama-1-{}.llama-gang"
  std::chrono::seconds host_wait = kHostWaitDefault;
  std::chrono::seconds grace = kGraceDefault;
  std::string socket = {};
  bool hooks = false;  // to count steps inside Python
  std::string marker = {};
  std::string checkpoint_uri = {};  // where checkpoints lie; empty: nobody said
  std::optional<ReportTarget> report = {};
  std::string report_ca = {};
  std::string report_token = {};
  std::uint16_t metrics_port = 0;             // 0: none
  std::string metrics_address = "127.0.0.1";  // the pod's, where that is known
  std::string termination_log = {};
  std::string search_path = {};  // PATH
  std::string hosts_file = {};   // of names that DNS does not know (nss_wrapper's)
  std::string folder = {};       // for our own files: $TMPDIR
  std::vector<std::string> complaints = {};
};

Settings read_settings(const Variables& variables);

// The name of a node: {} replaced by its index.
std::string host_name(std::string_view pattern, std::int64_t index);
// Whose names we wait for: rank 0 for everybody's, because it would be the one to hang without a
// word; the others for the master's, so that a gang of n asks 2n questions and not n squared.
std::vector<std::string> hosts_to_wait_for(const Settings& settings);

}  // namespace amdahl::launch
