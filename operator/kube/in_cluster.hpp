// The service account of the pod this program runs in.
//
// Failure: Errc::kNotFound when this is not a pod, or its token is not mounted.
#pragma once

#include <string>

#include "operator/kube/config.hpp"

namespace amdahl::kube {

// The address is KUBERNETES_SERVICE_HOST and _PORT; token and CA stay files and are followed when
// they rotate (C1, C2). The address bypasses every proxy (C5).
Result<Config> in_cluster_config(const Environment& environment,
                                 const std::string& service_account_dir);

}  // namespace amdahl::kube
