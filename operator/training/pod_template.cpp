#include "operator/training/pod_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_member.hpp"
#include "operator/api/names.hpp"
#include "operator/api/report.hpp"
#include "operator/api/report_env.hpp"
#include "operator/training/checkpoint_volume.hpp"
#include "operator/training/diagnose/consequence.hpp"
#include "operator/training/gang_backend.hpp"
#include "operator/training/pod_resources.hpp"
#include "operator/training/pod_variables.hpp"

namespace amdahl::training {
namespace {

constexpr const char* kLaunchVolume = "amdahl-launch";
constexpr const char* kLaunchFolder = "/amdahl";
constexpr const char* kReportVolume = "amdahl-report";
constexpr const char* kReportFolder = "/var/run/amdahl";
constexpr const char* kTerminationLog = "/dev/termination-log";
constexpr std::int64_t kTokenSeconds = 3600;
constexpr std::int32_t kAvoidWeight = 100;  // the most there is

void put_volume(Json& pod, const char* name, Json source) {
  source["name"] = name;
  list_in(pod, "volumes").push_back(std::move(source));
}
void put_mount(Json& container, const char* name, const char* path, bool read_only) {
  list_in(container, "volumeMounts")
      .push_back({{"name", name}, {"mountPath", path}, {"readOnly", read_only}});
}

std::int64_t grace_of(const Json& pod) {
  const auto found = pod.find("terminationGracePeriodSeconds");
  return found != pod.end() && found->is_number_integer() ? found->get<std::int64_t>()
                                                          : kGraceSecondsDefault;
}

void set_rendezvous(PodVariables& variables, const TrainingJob& job, const Rank& rank,
                    const PodOptions& options) {
  const std::string& name = job.metadata.name;
  const std::string master = api::rank_host(name, rank.attempt, 0);
  const std::string port =
      std::to_string(options.shared_ports ? api::shared_master_port(job.metadata.uid, rank.attempt)
                                          : api::kMasterPort);
  variables.set(api::env::kNodes, std::to_string(rank.nodes));
  variables.set(api::env::kProcessesPerNode, std::to_string(processes_per_node(job.spec)));
  variables.set(api::env::kNodeRank, std::to_string(rank.index));
  variables.set(api::env::kPetMasterAddress, master);
  variables.set(api::env::kPetMasterPort, port);
  variables.set(api::env::kRendezvousId, api::rendezvous_id(job.metadata.uid, rank.attempt));
  variables.set(api::env::kMasterAddress, master);
  variables.set(api::env::kMasterPort, port);
}

void set_identity(PodVariables& variables, const TrainingJob& job, const Rank& rank) {
  const std::string& name = job.metadata.name;
  variables.set(api::env::kJob, fmt::format("{}/{}", job.metadata.ns, name));
  variables.set(api::env::kAttempt, std::to_string(rank.attempt));
  if (rank.resume_step) variables.set(api::env::kResumeStep, std::to_string(*rank.resume_step));
  variables.set(api::env::kErrorFile, std::string(kTerminationLog));
  variables.set(api::report_env::kJobUid, job.metadata.uid);
  variables.set(api::report_env::kPod, api::pod_name(name, rank.attempt, rank.index));
  variables.set(api::report_env::kRank, std::to_string(rank.index));
  variables.set(api::report_env::kRuntime, std::string(enum_name(job.spec.runtime)));
  variables.set(api::report_env::kHosts,
                fmt::format("{}-{}-{{}}.{}", name, rank.attempt, api::service_name(name)));
  if (!job.spec.checkpoint.uri.empty())
    variables.set(api::report_env::kCheckpointUri, job.spec.checkpoint.uri);
}

// What signed checkpoints name; only known of an image that is pinned to it.
std::string image_digest(const Json& trainer) {
  const std::string_view image = text_of(trainer, "image");
  const auto at = image.find("@sha256:");
  return at == image.npos ? "" : std::string(image.substr(at + 1));
}

// An init container copies amdahl-launch into a volume of the pod.
void put_launch_image(Json& pod, Json& trainer, const PodOptions& options) {
  put_volume(pod, kLaunchVolume, {{"emptyDir", Json::object()}});
  put_mount(trainer, kLaunchVolume, kLaunchFolder, false);
  // It copies one file, which counts as memory where the volume is; a build with sanitizers has 80
  // MB.
  const Json little{{"cpu", "100m"}, {"memory", "256Mi"}};
  Json init{{"name", kLaunchVolume},
            {"image", options.launch_image},
            {"command", {"/amdahl-launch", "install", kLaunchFolder}},
            {"terminationMessagePolicy", "FallbackToLogsOnError"},
            {"resources", {{"requests", little}, {"limits", little}}},
            {"securityContext",
             {{"allowPrivilegeEscalation", false},
              {"readOnlyRootFilesystem", true},
              {"capabilities", {{"drop", {"ALL"}}}}}}};
  put_mount(init, kLaunchVolume, kLaunchFolder, false);
  Json& before = list_in(pod, "initContainers");
  before.insert(before.begin(), std::move(init));
}

// amdahl-launch becomes PID 1: it forwards signals, writes the termination message, reports.
void put_command(Json& trainer, const std::string& launch, const PodVariables& variables) {
  variables.erase_from(trainer);
  if (launch.empty()) return variables.put_as_env(trainer);
  Json command = Json::array({launch, "run"});
  for (std::string& argument : variables.as_arguments()) command.push_back(std::move(argument));
  command.push_back("--");
  for (const char* key : {"command", "args"})
    for (const Json& word : member_of(trainer, key)) command.push_back(word);
  trainer["command"] = std::move(command);
  trainer.erase("args");
}

// Where to report, and the pod's own short-lived token for it.
void put_reporting(Json& pod, Json& trainer, PodVariables& variables, const PodOptions& options) {
  if (options.report_url.empty()) return;
  // An API server without the admission of service accounts refuses the token otherwise.
  if (!pod.contains("serviceAccountName")) pod["serviceAccountName"] = "default";
  Json sources = Json::array({{{"serviceAccountToken",
                                {{"path", "token"},
                                 {"audience", api::kReportAudience},
                                 {"expirationSeconds", kTokenSeconds}}}}});
  const std::string token = fmt::format("{}/token", kReportFolder);
  variables.set(api::report_env::kUrl, options.report_url + std::string(api::kReportPath));
  variables.set(api::report_env::kToken, token);
  variables.set(api::env::kReportUrl, options.report_url + std::string(api::kProgressPath));
  variables.set(api::env::kReportToken, token);
  if (!options.report_ca.empty()) {
    sources.push_back({{"configMap", {{"name", options.report_ca}}}});
    const std::string ca = fmt::format("{}/ca.crt", kReportFolder);
    variables.set(api::report_env::kCa, ca);
    variables.set(api::env::kReportCa, ca);
  }
  put_volume(pod, kReportVolume, {{"projected", {{"sources", std::move(sources)}}}});
  put_mount(trainer, kReportVolume, kReportFolder, true);
}

Json metadata_of(const TrainingJob& job, const Rank& rank) {
  Json metadata{{"name", api::pod_name(job.metadata.name, rank.attempt, rank.index)},
                {"labels", Json::object()},
                {"finalizers", {api::kFinalizer}}};
  const Json& from = member_of(job.spec.pod_template, "metadata");
  for (const char* key : {"labels", "annotations"})
    if (const Json& map = member_of(from, key); map.is_object()) metadata[key] = map;
  drop_nulls(metadata);
  Json& labels = metadata["labels"];
  const std::string family =
      job.spec.family.empty() ? api::family_of(job.metadata.name) : job.spec.family;
  labels[api::label::kJob] = job.metadata.name;
  labels[api::label::kAttempt] = std::to_string(rank.attempt);
  labels[api::label::kRank] = std::to_string(rank.index);
  labels[api::label::kFamily] = family;
  labels[kGpusLabel] = std::to_string(pod_gpus(job.spec.pod_template));
  return metadata;
}

// Nodes on which an attempt broke by the node's fault.
std::vector<std::string> nodes_to_avoid(const api::TrainingJobStatus& status) {
  std::vector<std::string> nodes;
  for (const api::AttemptStatus& attempt : status.attempts) {
    if (!attempt.cause || attempt.cause->node.empty()) continue;
    if (!consequence_of(attempt.cause->cause_class).avoid_node) continue;
    if (std::ranges::find(nodes, attempt.cause->node) == nodes.end() &&
        nodes.size() < kAvoidNodesMax)
      nodes.push_back(attempt.cause->node);
  }
  return nodes;
}

// A wish and no demand: in a small cluster a bad node is better than none.
void put_avoided(Json& pod, const std::vector<std::string>& nodes) {
  if (nodes.empty()) return;
  Json fields = Json::array();  // the API takes one value each
  for (const std::string& node : nodes)
    fields.push_back({{"key", "metadata.name"}, {"operator", "NotIn"}, {"values", {node}}});
  Json& affinity = pod["affinity"];
  if (!affinity.is_object()) affinity = Json::object();
  Json& of_node = affinity["nodeAffinity"];
  if (!of_node.is_object()) of_node = Json::object();
  list_in(of_node, "preferredDuringSchedulingIgnoredDuringExecution")
      .push_back({{"weight", kAvoidWeight}, {"preference", {{"matchFields", std::move(fields)}}}});
}

// There is always one: a template without one is refused before, and must not end the process.
Json& trainer_in(Json& pod) {
  Json& containers = list_in(pod, "containers");
  for (Json& container : containers)
    if (text_of(container, "name") == api::kTrainerContainer) return container;
  if (containers.empty()) containers.push_back(Json::object());
  Json& only = containers.front();
  if (!only.is_object()) only = Json::object();
  return only;
}

// Null is absent, as it is to the API server.
Json spec_in(const Json& pod_template) {
  Json spec = member_of(pod_template, "spec");
  if (!spec.is_object()) return Json::object();
  drop_nulls(spec);
  return spec;
}

void put_trainer(Json& pod, const TrainingJob& job, const Rank& rank, const PodOptions& options) {
  Json& trainer = trainer_in(pod);
  trainer["terminationMessagePath"] = kTerminationLog;
  trainer["terminationMessagePolicy"] = "FallbackToLogsOnError";
  PodVariables variables;
  set_rendezvous(variables, job, rank, options);
  set_identity(variables, job, rank);
  variables.set(api::report_env::kGraceSeconds, std::to_string(grace_of(pod)));
  if (const std::string digest = image_digest(trainer); !digest.empty())
    variables.set(api::report_env::kImageDigest, digest);
  put_field_env(trainer, api::report_env::kPodUid, "metadata.uid");
  if (has_env(trainer, api::report_env::kMetricsPort))
    put_field_env(trainer, api::report_env::kPodAddress, "status.podIP");
  std::string launch = options.launch_path;
  if (!options.launch_image.empty()) {
    put_launch_image(pod, trainer, options);
    launch = fmt::format("{}/amdahl-launch", kLaunchFolder);
    variables.set(api::env::kSocket, fmt::format("{}/launch.sock", kLaunchFolder));
  }
  if (job.spec.hooks == api::Hooks::kAuto && !launch.empty())
    variables.set(api::report_env::kHooks, "1");
  put_reporting(pod, trainer, variables, options);
  put_checkpointing(pod, trainer, variables, {.job = job, .number = rank.attempt});
  put_command(trainer, launch, variables);
}

}  // namespace

std::int32_t processes_per_node(const api::TrainingJobSpec& spec) {
  if (spec.processes_per_node) return *spec.processes_per_node;
  const Json* const trainer = trainer_of(spec.pod_template);
  const std::int64_t gpus = trainer == nullptr ? 0 : gpus_of(*trainer);
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(gpus, 1, api::kProcessesPerNodeMax));
}

Json pod_of(const TrainingJob& job, const Rank& rank, const PodOptions& options) {
  Json pod{{"metadata", metadata_of(job, rank)}, {"spec", spec_in(job.spec.pod_template)}};
  Json& spec = pod["spec"];
  const GangBackend& gang = gang_backend(job.spec.scheduling.gang);
  spec["hostname"] = api::pod_name(job.metadata.name, rank.attempt, rank.index);
  spec["subdomain"] = api::service_name(job.metadata.name);
  spec["restartPolicy"] = "Never";
  spec["terminationGracePeriodSeconds"] = grace_of(spec);
  if (!gang.scheduler().empty()) spec["schedulerName"] = gang.scheduler();
  if (!job.spec.scheduling.priority_class.empty())
    spec["priorityClassName"] = job.spec.scheduling.priority_class;
  // Ranks have their own token for reporting; the account's is for those who ask for it.
  if (!spec.contains("automountServiceAccountToken")) spec["automountServiceAccountToken"] = false;
  gang.join(pod, job);
  put_avoided(spec, nodes_to_avoid(job.status));

  put_trainer(spec, job, rank, options);
  return pod;
}

Json service_of(const TrainingJob& job) {
  const std::string name = api::service_name(job.metadata.name);
  return {{"metadata", {{"name", name}, {"labels", {{api::label::kJob, job.metadata.name}}}}},
          {"spec",
           {{"clusterIP", "None"},
            {"publishNotReadyAddresses", true},  // ranks look for each other before they are ready
            {"selector", {{api::label::kJob, job.metadata.name}}}}}};
}

}  // namespace amdahl::training
