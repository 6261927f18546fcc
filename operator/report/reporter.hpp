// Who reports: the pod that a token is bound to, and what the cache knows of it.
//
// Pure. Failure: Errc::kForbidden for a token that is not bound to a pod of ours, with the reason.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.hpp"
#include "operator/kube/request.hpp"
#include "operator/kube/types_review.hpp"

namespace amdahl::report {

// What the API server says of a token.
struct TokenPod {
  std::string ns = {};
  std::string pod = {};
  std::string pod_uid = {};
  bool operator==(const TokenPod&) const = default;
};
Result<TokenPod> pod_of_token(const kube::UserInfo& user);

// A pod of a TrainingJob, as the operator's cache has it.
struct JobPod {
  std::string pod_uid = {};
  kube::ObjectKey job = {};
  std::string job_uid = {};
  std::int32_t attempt = 0;
  std::int32_t rank = 0;  // of the node
  bool operator==(const JobPod&) const = default;
};
// Errc::kForbidden, with the reason, for a pod that may not report for any job as it is now.
using FindJobPod = std::function<Result<JobPod>(const kube::ObjectKey& pod)>;

// The pod the token is bound to, if it still is the pod of that name. A token outlives its pod by
// minutes, and names come back with the next attempt of another job.
Result<JobPod> reporting_pod(const TokenPod& token, const FindJobPod& find);

}  // namespace amdahl::report
