#include "local/kubelet/container_spec.hpp"

#include <algorithm>
#include <filesystem>

#include "local/kubelet/expand.hpp"
#include "operator/kube/url.hpp"

namespace amdahl::local {
namespace {

namespace fs = std::filesystem;

bool mounts_at(const Container& container, std::string_view path) {
  return std::ranges::find(container.mounts, path, &VolumeMount::path) != container.mounts.end();
}

void add_token_mount(std::vector<Container>& containers) {
  for (Container& container : containers)
    if (!mounts_at(container, kTokenFolder))
      container.mounts.push_back({.name = std::string(kTokenVolume),
                                  .path = std::string(kTokenFolder),
                                  .read_only = true});
}

// Host variables by name, and where things are.
Variables before_variables(const PodEntry& entry, const Container& container,
                           const KubeletOptions& options) {
  Variables result;
  for (const auto& [name, value] : options.host_variables)
    if (std::ranges::find(kHostVariables, name) != std::end(kHostVariables))
      result.emplace_back(name, value);
  // The machine's /tmp outlives the pod, and so would what a program that is killed leaves there.
  const std::string temporary = entry.folder.temporary();
  if (!temporary.empty() && !mounts_at(container, "/tmp")) result.emplace_back("TMPDIR", temporary);
  result.emplace_back("HOSTNAME", hostname_of(*entry.pod));
  result.emplace_back("CUDA_VISIBLE_DEVICES", "");
  const auto server = kube::parse_url(options.server_url);
  if (!options.server_url.empty() && server) {
    result.emplace_back("KUBERNETES_SERVICE_HOST", server->host);
    result.emplace_back("KUBERNETES_SERVICE_PORT", fmt::format("{}", server->port));
  }
  return result;
}

std::string joined(const std::vector<int>& slots) {
  return fmt::format("{}", fmt::join(slots, ","));
}

// Where amdahl-launch finds the token it reports with (operator/training/pod_template.cpp).
constexpr std::string_view kReportFolder = "/var/run/amdahl";

// Paths that a container can do without where nothing can be mounted.
bool may_stay(std::string_view path) {
  return path == "/dev/shm" || path == kTokenFolder || path == kReportFolder;
}

// Where nothing can be mounted, the launcher is told where its token really is.
void name_report_token(const PodEntry& entry, const Container& container, Variables& variables) {
  for (const VolumeMount& mount : container.mounts) {
    if (mount.path != kReportFolder) continue;
    const std::string token = entry.folder.volume(mount.name) + "/token";
    for (const char* name : {"AMDAHL_REPORT_TOKEN", "KUBEFLOW_TRAINER_SERVER_TOKEN"})
      variables.emplace_back(name, token);
  }
}

struct MountPlan {
  const PodEntry& entry;
  const Container& container;
  const KubeletOptions& options;
  const Variables& variables;

  Result<std::string> below(const std::string& volume, const VolumeMount& mount) const {
    const auto find = [this](std::string_view name) -> std::optional<std::string_view> {
      const auto found = std::ranges::find(variables, name, &Variables::value_type::first);
      if (found == variables.end()) return std::nullopt;
      return found->second;
    };
    const std::string sub =
        mount.sub_path_expr.empty() ? mount.sub_path : expand(mount.sub_path_expr, find);
    if (sub.empty()) return volume;
    if (!is_safe_path(sub))
      return fail(Errc::kInvalid, "subPath {} of volume {} leaves the volume", sub, mount.name);
    std::error_code error;
    const fs::path path = fs::weakly_canonical(fs::path(volume) / sub, error);
    const fs::path root = fs::weakly_canonical(volume, error);
    // A link inside the volume may point anywhere.
    if (std::ranges::mismatch(root, path).in1 != root.end())
      return fail(Errc::kInvalid, "subPath {} of volume {} leaves the volume", sub, mount.name);
    if (!fs::exists(path, error)) fs::create_directories(path, error);
    if (error) return fail(Errc::kIo, "subPath {}: {}", path.string(), error.message());
    return path.string();
  }

  Result<ShimMount> mount_of(const VolumeMount& mount) const {
    const auto volume = std::ranges::find(entry.pod->spec.volumes, mount.name, &Volume::name);
    if (volume == entry.pod->spec.volumes.end())
      return fail(Errc::kInvalid, "volumeMount {}: the pod has no such volume", mount.name);
    std::string source = entry.folder.volume(mount.name);
    if (volume->host_path) {
      TRY(source, host_path(*volume->host_path, options.host_path_root));
    }
    TRY(source, below(source, mount));
    return ShimMount{.source = source, .target = mount.path, .read_only = mount.read_only};
  }

  Result<std::vector<ShimMount>> all(std::int32_t run, const std::string& hosts_file) const {
    std::vector<ShimMount> mounts;
    for (const VolumeMount& mount : container.mounts) {
      TRY(ShimMount made, mount_of(mount));
      mounts.push_back(std::move(made));
    }
    mounts.push_back({.source = entry.folder.last_words(container.name, run),
                      .target = container.termination_path});
    if (!mounts_at(container, "/etc/hosts"))
      mounts.push_back({.source = hosts_file, .target = "/etc/hosts"});
    return mounts;
  }
};

Result<void> check_plain(const Container& container, const Isolation& isolation) {
  for (const VolumeMount& mount : container.mounts)
    if (!may_stay(mount.path))
      return fail(Errc::kTerminal,
                  "volume {} cannot be mounted at {}: this machine permits no namespaces ({}). "
                  "Permit unprivileged user namespaces, or give the path by a variable",
                  mount.name, mount.path, isolation.why);
  return {};
}

}  // namespace

std::int64_t gpus_of(const Container& container) {
  const std::string name(kGpuResource);
  for (const Quantities* from : {&container.resources.limits, &container.resources.requests})
    if (const auto found = from->find(name); found != from->end()) return found->second.value();
  return 0;
}

NodeRoom room_of(const KubeletOptions& options, const std::string& node) {
  const auto found = std::ranges::find(options.nodes, node, &NodeSpec::name);
  if (found == options.nodes.end()) return {};
  return {.cpu_milli = found->cpu_milli, .memory_bytes = found->memory_bytes};
}

Pod with_token_volume(Pod pod) {
  pod.spec.volumes.push_back(
      {.name = std::string(kTokenVolume),
       .projected = ProjectedFiles{
           .sources = {
               {.downward =
                    DownwardFiles{.items = {{.path = "namespace",
                                             .field = FieldRef{.path = "metadata.namespace"}}}}},
               {.token = TokenFile{.path = "token", .seconds = kTokenSeconds}}}}});
  add_token_mount(pod.spec.init_containers);
  add_token_mount(pod.spec.containers);
  return pod;
}

CommandFacts command_facts(const PodEntry& entry, std::size_t index, const KubeletOptions& options,
                           const Isolation& isolation, const std::string& hosts_file) {
  const Container& container = entry.container(index);
  const std::int32_t run = next_run(entry.life.containers[index]);
  CommandFacts facts{.address = entry.life.address,
                     .node = room_of(options, entry.pod->spec.node),
                     .before = before_variables(entry, container, options),
                     .directory = entry.folder.work(container.name)};
  facts.after.emplace_back(kPodFolderVariable, entry.folder.root());
  facts.after.emplace_back("AMDAHL_TERMINATION_LOG",
                           isolation.namespaces ? container.termination_path
                                                : entry.folder.last_words(container.name, run));
  if (const auto slots = entry.gpus.find(container.name); slots != entry.gpus.end())
    facts.after.emplace_back("CUDA_VISIBLE_DEVICES", joined(slots->second));
  if (!isolation.namespaces) name_report_token(entry, container, facts.after);
  if (!isolation.namespaces && !isolation.nss_wrapper.empty()) {
    facts.before.emplace_back("LD_PRELOAD", isolation.nss_wrapper);
    facts.before.emplace_back("NSS_WRAPPER_HOSTS", hosts_file);
  }
  return facts;
}

Result<ShimSpec> container_spec(const PodEntry& entry, std::size_t index,
                                const KubeletOptions& options, const Isolation& isolation,
                                const std::string& hosts_file) {
  const Container& container = entry.container(index);
  const CommandFacts facts = command_facts(entry, index, options, isolation, hosts_file);
  TRY(Command command, make_command(*entry.pod, container, entry.sources, facts));
  ShimSpec spec{.arguments = std::move(command.arguments),
                .directory = std::move(command.directory),
                .hostname = hostname_of(*entry.pod),
                .namespaces = isolation.namespaces,
                .scratch = entry.folder.scratch()};
  for (const auto& [name, value] : command.variables)
    spec.environment.push_back(fmt::format("{}={}", name, value));
  if (const auto limit = container.resources.limits.find("memory");
      limit != container.resources.limits.end())
    spec.memory_bytes = limit->second.value();
  if (!isolation.namespaces) {
    TRY(check_plain(container, isolation));
    return spec;
  }
  const MountPlan plan{
      .entry = entry, .container = container, .options = options, .variables = command.variables};
  TRY(spec.mounts, plan.all(next_run(entry.life.containers[index]), hosts_file));
  return spec;
}

}  // namespace amdahl::local
