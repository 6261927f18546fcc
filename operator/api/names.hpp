// Names that follow from a TrainingJob: its children, their labels, the environment of its ranks.
//
// Pure. The same input gives the same name for ever, so a second create of a child meets
// AlreadyExists. With a job name of at most kJobNameMax characters, which the CRD enforces, every
// name here is a DNS label. Failure: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/packed_map.hpp"

namespace amdahl::api {

inline constexpr std::string_view kGroup = "amdahl.dev";
inline constexpr std::string_view kVersion = "v1alpha1";
inline constexpr std::string_view kApiVersion = "amdahl.dev/v1alpha1";
inline constexpr std::string_view kTrainingJobKind = "TrainingJob";
inline constexpr std::string_view kTrainingJobPlural = "trainingjobs";

// Attempts count from 1, ranks of nodes from 0.
std::string pod_name(std::string_view job, std::uint32_t attempt, std::uint32_t node_rank);
// The headless Service that gives every pod its name in DNS; the same for all attempts.
std::string service_name(std::string_view job);
// The PodGroup of the gang; the same for all attempts.
std::string pod_group_name(std::string_view job);
// "llama-2-0.llama-gang": how pods of the same namespace reach a rank, whatever the cluster domain.
std::string rank_host(std::string_view job, std::uint32_t attempt, std::uint32_t node_rank);
// What torchrun calls the rendezvous id: a new one for every attempt.
std::string rendezvous_id(std::string_view job_uid, std::uint32_t attempt);

struct PodIdentity {
  std::string job = {};
  std::uint32_t attempt = 0;
  std::uint32_t node_rank = 0;
  bool operator==(const PodIdentity&) const = default;
};
// From the labels; nullopt when the pod is not one of ours.
std::optional<PodIdentity> pod_identity(const PackedMap& labels);
// All pods of a job: "amdahl.dev/job=llama".
std::string job_selector(std::string_view job);

// The family of a job that names none: its name without a trailing number ("-7") or hash: the five
// characters of generateName ("-x7k2p") or six and more hexadecimal digits ("-3fa9c1"). The size of
// a model ("-8x22b") is neither.
std::string family_of(std::string_view job);

namespace label {
inline constexpr std::string_view kJob = "amdahl.dev/job";
inline constexpr std::string_view kAttempt = "amdahl.dev/attempt";
inline constexpr std::string_view kRank = "amdahl.dev/rank";  // of the node
inline constexpr std::string_view kFamily = "amdahl.dev/family";
}  // namespace label

namespace annotation {
// Who asked for the last pause, resume or cancel, as the command line writes it.
inline constexpr std::string_view kRequestedBy = "amdahl.dev/requested-by";
}  // namespace annotation

inline constexpr std::string_view kFinalizer = "amdahl.dev/training-job";
inline constexpr std::string_view kTrainerContainer = "trainer";

// The environment of every trainer container.
namespace env {
inline constexpr std::string_view kNodes = "PET_NNODES";
inline constexpr std::string_view kProcessesPerNode = "PET_NPROC_PER_NODE";
inline constexpr std::string_view kNodeRank = "PET_NODE_RANK";
inline constexpr std::string_view kPetMasterAddress = "PET_MASTER_ADDR";
inline constexpr std::string_view kPetMasterPort = "PET_MASTER_PORT";
inline constexpr std::string_view kRendezvousId = "PET_RDZV_ID";
inline constexpr std::string_view kMasterAddress = "MASTER_ADDR";
inline constexpr std::string_view kMasterPort = "MASTER_PORT";
inline constexpr std::string_view kJob = "AMDAHL_JOB";
inline constexpr std::string_view kAttempt = "AMDAHL_ATTEMPT";
inline constexpr std::string_view kSocket = "AMDAHL_SOCKET";  // launch's unix socket
inline constexpr std::string_view kResumeStep = "AMDAHL_RESUME_STEP";
inline constexpr std::string_view kErrorFile = "TORCHELASTIC_ERROR_FILE";  // the termination log
// The Kubeflow progress protocol, so that unmodified Hugging Face scripts report.
inline constexpr std::string_view kReportUrl = "KUBEFLOW_TRAINER_SERVER_URL";
inline constexpr std::string_view kReportCa = "KUBEFLOW_TRAINER_SERVER_CA_CERT";
inline constexpr std::string_view kReportToken = "KUBEFLOW_TRAINER_SERVER_TOKEN";
}  // namespace env
inline constexpr std::uint16_t kMasterPort = 29'500;  // torch's own default
// Where all pods share the ports of one machine: a port for each attempt, so that jobs beside each
// other, and an attempt whose predecessor's port still lingers, do not meet. Below what the kernel
// hands out for outgoing connections.
std::uint16_t shared_master_port(std::string_view job_uid, std::uint32_t attempt);

}  // namespace amdahl::api
