// The other objects of the benchmark: TrainingJobs and ConfigMaps. Pure.
//
// Jobs go with the Pods of pod_manifest.hpp: Pod n belongs to job n / kRanks. As the server stores
// them, with status and managedFields, jobs have about 2 KB and maps 1 KB. The definition of the
// custom resource is training_job_crd.json.
#pragma once

#include <cstdint>
#include <string>

#include "operator/kube/request.hpp"

namespace amdahl::bench {

inline const kube::Resource kTrainingJobs{
    .group = "amdahl.dev", .version = "v1alpha1", .plural = "trainingjobs", .kind = "TrainingJob"};

std::string job_manifest(std::uint32_t number);
// The body of a merge patch of the status subresource.
std::string job_status(std::uint32_t number);
std::string config_map_manifest(std::int64_t number);

}  // namespace amdahl::bench
