#include "runtime/launch/settings.hpp"

#include <fmt/format.h>

#include <charconv>

#include "operator/api/report_env.hpp"
#include "runtime/launch/text_scan.hpp"

namespace amdahl::launch {
namespace {

namespace env = api::report_env;
constexpr auto kNone = std::string_view::npos;
constexpr std::string_view kPlaceholder = "{}";

class Reader {
 public:
  Reader(const Variables& variables, Settings& settings)
      : variables_(variables), settings_(settings) {}

  std::string text(std::string_view name) const { return std::string(variables_.get(name)); }

  std::int64_t number(std::string_view name, std::int64_t fallback, std::int64_t max) const {
    std::string_view value = variables_.get(name);
    if (value.empty()) return fallback;
    const auto count = take_count(value);
    if (count && value.empty() && *count <= max) return *count;
    complain(name, fmt::format("expected a number up to {}", max));
    return fallback;
  }

  void complain(std::string_view name, std::string_view why) const {
    settings_.complaints.push_back(
        fmt::format("{}={}: {}", name, variables_.get(name).substr(0, 200), why));
  }

 private:
  const Variables& variables_;
  Settings& settings_;
};

void read_runtime(const Reader& reader, Settings& settings) {
  const std::string runtime = reader.text(env::kRuntime);
  if (runtime == "Torchrun") settings.runtime = Runtime::kTorchrun;
  if (runtime == "DeepSpeed") settings.runtime = Runtime::kDeepSpeed;
  if (!runtime.empty() && runtime != "Python" && settings.runtime == Runtime::kPython)
    reader.complain(env::kRuntime, "expected Torchrun, DeepSpeed or Python; taken for Python");
}

void read_gang(const Reader& reader, Settings& settings) {
  const std::int64_t node_rank = reader.number("PET_NODE_RANK", 0, kNodesMax - 1);
  settings.rank = reader.number(env::kRank, node_rank, kNodesMax - 1);
  settings.nodes = std::max<std::int64_t>(1, reader.number("PET_NNODES", 1, kNodesMax));
  std::string slots = reader.text("PET_NPROC_PER_NODE");
  std::string_view rest = slots;  // "gpu" and "auto" are torchrun's to resolve
  settings.slots = std::max<std::int64_t>(1, take_count(rest).value_or(1));
  settings.master = reader.text("PET_MASTER_ADDR");
  settings.host_pattern = reader.text(env::kHosts);
  if (!settings.host_pattern.empty() && settings.nodes > 1 &&
      !settings.host_pattern.contains(kPlaceholder)) {
    reader.complain(env::kHosts, "has no {}");
    settings.host_pattern.clear();
  }
  settings.host_wait = std::chrono::seconds(
      reader.number(env::kHostSeconds, kHostWaitDefault.count(), kHostWaitMax.count()));
}

void read_report(const Reader& reader, Settings& settings) {
  const std::string url = reader.text(env::kUrl);
  if (url.empty()) return;
  settings.report = parse_report_url(url);
  if (!settings.report)
    reader.complain(env::kUrl, "expected http://HOST[:PORT]/PATH or https://; nothing is reported");
  settings.report_ca = reader.text(env::kCa);
  settings.report_token = reader.text(env::kToken);
}

std::string marker_below(std::string_view uri) {
  constexpr std::string_view kFile = "file://";
  if (!uri.starts_with(kFile) || !uri.substr(kFile.size()).starts_with('/')) return {};
  std::string folder(uri.substr(kFile.size()));
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder + "/amdahl-committed.json";
}

void read_files(const Reader& reader, Settings& settings) {
  settings.socket = reader.text("AMDAHL_SOCKET");
  settings.hooks = reader.number(env::kHooks, 0, 1) == 1;
  settings.marker = reader.text(env::kCheckpointMarker);
  settings.checkpoint_uri = reader.text(env::kCheckpointUri);
  if (settings.marker.empty()) settings.marker = marker_below(settings.checkpoint_uri);
  settings.termination_log = reader.text(env::kTerminationLog);
  if (settings.termination_log.empty())
    settings.termination_log = reader.text("TORCHELASTIC_ERROR_FILE");
  settings.search_path = reader.text("PATH");
  if (settings.search_path.empty()) settings.search_path = "/usr/local/bin:/usr/bin:/bin";
  settings.hosts_file = reader.text("NSS_WRAPPER_HOSTS");
  settings.folder = reader.text("TMPDIR");
  if (settings.folder.empty()) settings.folder = "/tmp";
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

}  // namespace

std::optional<ReportTarget> parse_report_url(std::string_view url) {
  ReportTarget target;
  if (take(url, "https://"))
    target.tls = true;
  else if (!take(url, "http://"))
    return std::nullopt;
  target.port = target.tls ? 443 : 80;
  const std::size_t slash = std::min(url.find('/'), url.size());
  std::string_view authority = url.substr(0, slash);
  if (slash < url.size()) target.path = std::string(url.substr(slash));
  // A blank or a line end would let a variable write headers.
  if (target.path.find_first_of(" \r\n\t") != kNone || authority.contains('@')) return std::nullopt;
  const bool bracketed = authority.starts_with('[');
  const std::size_t host_end = bracketed ? authority.find(']') : authority.find(':');
  if (bracketed && host_end == kNone) return std::nullopt;
  std::string_view port = authority.substr(std::min(host_end, authority.size()));
  if (bracketed) port.remove_prefix(1);
  target.host = std::string(authority.substr(bracketed ? 1 : 0, host_end - (bracketed ? 1 : 0)));
  if (take(port, ":")) {
    const auto number = parse_port(port);
    if (!number) return std::nullopt;
    target.port = *number;
  } else if (!port.empty()) {
    return std::nullopt;
  }
  if (target.host.empty() || target.host.find_first_of(" \r\n\t") != kNone) return std::nullopt;
  return target;
}

Settings read_settings(const Variables& variables) {
  Settings settings;
  const Reader reader(variables, settings);
  read_runtime(reader, settings);
  settings.job = reader.text("AMDAHL_JOB");
  settings.job_uid = reader.text(env::kJobUid);
  settings.pod = reader.text(env::kPod);
  settings.pod_uid = reader.text(env::kPodUid);
  settings.attempt = reader.number("AMDAHL_ATTEMPT", 0, 1'000'000'000);
  read_gang(reader, settings);
  settings.grace = std::chrono::seconds(
      reader.number(env::kGraceSeconds, kGraceDefault.count(), kGraceMax.count()));
  read_report(reader, settings);
  settings.metrics_port =
      static_cast<std::uint16_t>(reader.number(env::kMetricsPort, 0, UINT16_MAX));
  if (const std::string address = reader.text(env::kPodAddress); !address.empty())
    settings.metrics_address = address;
  read_files(reader, settings);
  return settings;
}

std::string host_name(std::string_view pattern, std::int64_t index) {
  const std::size_t at = pattern.find(kPlaceholder);
  if (at == kNone) return std::string(pattern);
  return fmt::format("{}{}{}", pattern.substr(0, at), index,
                     pattern.substr(at + kPlaceholder.size()));
}

std::vector<std::string> hosts_to_wait_for(const Settings& settings) {
  std::vector<std::string> hosts;
  if (settings.nodes <= 1) return hosts;
  if (settings.rank == 0 && !settings.host_pattern.empty()) {
    for (std::int64_t node = 1; node < settings.nodes; ++node)
      hosts.push_back(host_name(settings.host_pattern, node));
  } else if (settings.rank != 0 && !settings.master.empty()) {
    hosts.push_back(settings.master);
  }
  return hosts;
}

}  // namespace amdahl::launch
