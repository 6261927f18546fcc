// For tests: tokens as a cluster issues them, but signed by nobody.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "operator/api/report.hpp"
#include "operator/kube/base64.hpp"
#include "operator/report/reporter.hpp"

namespace amdahl::report {

inline std::string token_with_claims(std::string_view claims, std::string_view signature = "c2ln") {
  return fmt::format("eyJhbGciOiJSUzI1NiJ9.{}.{}", kube::base64url_encode(claims), signature);
}

inline std::string pod_token(const TokenPod& pod, std::string_view signature = "c2ln",
                             std::string_view audience = api::kReportAudience) {
  return token_with_claims(
      fmt::format(R"({{"aud":["{}"],"kubernetes.io":{{"namespace":"{}","pod":{{"name":"{}",)"
                  R"("uid":"{}"}}}}}})",
                  audience, pod.ns, pod.pod, pod.pod_uid),
      signature);
}

}  // namespace amdahl::report
