// The part of PodWorker that starts containers and hears how they ended.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "local/kubelet/hosts.hpp"
#include "local/kubelet/pod_file.hpp"
#include "local/kubelet/pod_sources.hpp"
#include "local/kubelet/pod_worker.hpp"

namespace amdahl::local {
namespace {

using controller::EventType;

// Tokens are renewed when four fifths of their time have passed, as kubelets do.
std::optional<WallTime> renewal_of(const SourceNames& names, WallTime now) {
  std::optional<WallTime> first;
  for (const auto& [audience, seconds] : names.token_seconds) {
    const WallTime when = now + std::chrono::seconds(seconds * 4 / 5);
    first = first ? std::min(*first, when) : when;
  }
  return first;
}

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string text_of(const Fd& file, std::size_t bytes_max) {
  std::string text(bytes_max, '\0');
  const ssize_t count = ::pread(file.get(), text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return text;
}

// In place: the file may be mounted in running containers. In one write, and never emptied before
// it: a program that looks a name up at this moment finds the old text or the new one.
Result<void> replace_text(const std::string& path, const std::string& text) {
  constexpr unsigned kReadable = 0644;  // the folder around it is closed to others
  TRY(const Fd file, open_pod_file(path, O_CREAT | O_RDWR, kReadable));
  if (text_of(file, text.size() + 1) == text) return {};
  if (::pwrite(file.get(), text.data(), text.size(), 0) != std::ssize(text) ||
      ::ftruncate(file.get(), std::ssize(text)) != 0)
    return fail(Errc::kIo, "write {}: {}", path, errno_text(errno));
  return {};
}

}  // namespace

Task<Result<void>> PodWorker::prepare_volumes(Entry entry, WallTime now) {
  const SourceNames names = referenced(*entry->pod);
  SourceReader reader{.ns = entry->pod->metadata.ns,
                      .account = entry->pod->spec.service_account,
                      .pod = entry->pod->metadata.name,
                      .pod_uid = entry->pod->metadata.uid};
  CO_TRY(entry->sources, co_await fetch_sources(context_.client, std::move(reader), names));
  const CommandFacts facts{.address = entry->life.address,
                           .node = room_of(context_.options, entry->pod->spec.node)};
  for (const Volume& volume : entry->pod->spec.volumes) {
    const bool is_ours = volume.name == kTokenVolume;
    // A namespace without the service account has nothing to mount; users did not ask for it.
    if (is_ours && !entry->sources.tokens.contains("")) {
      CO_TRY(entry->folder.write_volume(volume.name, {}));
      continue;
    }
    CO_TRY(VolumeFiles files, volume_files(*entry->pod, volume, entry->sources, facts));
    if (is_ours && !context_.options.ca_file.empty())
      files["ca.crt"] = {.bytes = file_text(context_.options.ca_file)};
    if (!volume.host_path) CO_TRY(entry->folder.write_volume(volume.name, files));
  }
  entry->volumes_ready = true;
  entry->tokens_until = renewal_of(names, now);
  co_return Result<void>{};
}

void PodWorker::cannot_start(PodEntry& entry, std::size_t index, const Error& error,
                             std::string reason) {
  ContainerStatus& status = entry.life.containers[index].status;
  if (!status.state.terminated)
    status.state = {.waiting = Waiting{.reason = reason, .message = error.context}};
  tell(entry, EventType::kWarning, reason == "ContainerCreating" ? "FailedMount" : "Failed",
       error.context);
}

// True: look again soon, because what was decided is no longer all there is to say.
Task<bool> PodWorker::start_container(Entry entry, std::size_t index) {
  if (!entry->volumes_ready) {
    const auto ready = co_await prepare_volumes(entry, clock_.wall());
    if (!ready) {
      cannot_start(*entry, index, ready.error(), "ContainerCreating");
      co_return false;
    }
  }
  const auto launched = co_await launch(entry, index);
  if (launched) co_return true;
  const Errc code = launched.error().code;
  cannot_start(*entry, index, launched.error(),
               code == Errc::kInvalid ? "CreateContainerConfigError" : "CreateContainerError");
  // The config map or secret may come later.
  if (code == Errc::kInvalid) entry->volumes_ready = false;
  co_return false;
}

Task<Result<void>> PodWorker::launch(Entry entry, std::size_t index) {
  const std::string ns = entry->pod->metadata.ns;
  const Container& container = entry->container(index);
  ContainerLife& life = entry->life.containers[index];
  const std::int32_t run = next_run(life);
  CO_TRY(entry->folder.prepare(container.name, run));
  update_hosts(ns);
  CO_TRY(ShimSpec spec,
         container_spec(*entry, index, context_.options, isolation_, hosts_file(ns)));
  const std::string id = fmt::format("{}-{}-{}", entry->pod->metadata.uid, container.name, run);
  if (cgroups_ && spec.memory_bytes > 0) {
    if (auto procs = cgroups_->make(id, spec.memory_bytes)) {
      spec.cgroup_procs = *std::move(procs);
      spec.memory_bytes = 0;
    }
  }
  const std::string folder = entry->folder.logs(container.name);
  CO_TRY(auto log, LogWriter::open(folder, run));
  logs_[folder] = log;
  const WallTime began = clock_.wall();
  auto process = co_await ContainerProcess::start(
      context_.tasks, clock_,
      {.name = fmt::format("{} {}", to_string(entry->pod->metadata.key()), container.name),
       .shim = context_.options.shim,
       .spec = std::move(spec),
       .shim_variables = {fmt::format("{}={}", kPodFolderVariable, entry->folder.root())},
       .log = log,
       .on_output = context_.options.on_log,
       .on_end = [this, entry, index](ProgramEnd end) { ended(entry, index, std::move(end)); }});
  if (!process && process.error().code != Errc::kInvalid)
    co_return std::unexpected<Error>(std::move(process).error());
  note_start(life, "process://" + id, process ? clock_.wall() : began);
  if (process) {
    entry->processes[index] = *std::move(process);
    tell(*entry, EventType::kNormal, "Started", "Started container " + container.name);
    if (entry->gone || stopping_) entry->processes[index]->kill();
  } else {
    ended(entry, index, {.start_problem = process.error().context});
  }
  co_return Result<void>{};
}

void PodWorker::ended(const Entry& entry, std::size_t index, ProgramEnd end) {
  ContainerLife& life = entry->life.containers[index];
  const Container& container = entry->container(index);
  const std::int32_t run = life.status.restarts;
  if (cgroups_ && container.resources.limits.contains("memory")) {
    const std::string id = fmt::format("{}-{}-{}", entry->pod->metadata.uid, container.name, run);
    const bool killed = cgroups_->finish(id);
    end.out_of_memory = end.out_of_memory || (killed && (end.signal != 0 || end.exit_code != 0));
  }
  const bool failed = end.exit_code != 0 || end.signal != 0;
  const auto running = life.status.state.running;
  note_end(life,
           terminated(end, running ? std::optional(running->started) : std::nullopt, clock_.wall(),
                      entry->folder.termination_message(container, run, failed)));
  if (!end.start_problem.empty()) tell(*entry, EventType::kWarning, "Failed", end.start_problem);
  entry->processes.erase(index);
  logs_.erase(entry->folder.logs(container.name));
  ended_.notify_all();
  wake_(entry->pod->metadata.key());
}

std::shared_ptr<LogWriter> PodWorker::open_log(const std::string& uid,
                                               const std::string& container) const {
  const auto found = logs_.find(PodFolder(context_.options.data_dir, uid).logs(container));
  return found == logs_.end() ? nullptr : found->second;
}

std::string PodWorker::hosts_file(const std::string& ns) const {
  return context_.options.data_dir + "/hosts/" + ns;
}

void PodWorker::update_hosts(const std::string& ns) {
  std::vector<HostPod> pods;
  for (const auto& [key, entry] : entries_)
    if (key.ns == ns && !entry->released)
      pods.push_back({.name = key.name,
                      .hostname = hostname_of(*entry->pod),
                      .subdomain = entry->pod->spec.subdomain,
                      .address = entry->life.address,
                      .labels = entry->pod->metadata.labels});
  std::vector<HostService> services;
  context_.services.for_each([&](const auto& service) {
    if (service->metadata.ns == ns)
      services.push_back({.name = service->metadata.name, .selector = service->spec.selector});
  });
  std::ranges::sort(services, {}, &HostService::name);
  const HostsFor reader = isolation_.namespaces ? HostsFor::kMount : HostsFor::kNssWrapper;
  const std::string text = hosts_text(context_.options.own_hosts, ns, pods, services, reader);
  if (const auto written = replace_text(hosts_file(ns), text); !written)
    context_.log.warning("names of pods not written", {{"cause", written.error()}});
}

}  // namespace amdahl::local
