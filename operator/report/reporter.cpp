#include "operator/report/reporter.hpp"

#include <string_view>

namespace amdahl::report {
namespace {

constexpr std::string_view kAccountPrefix = "system:serviceaccount:";
constexpr const char* kPodName = "authentication.kubernetes.io/pod-name";
constexpr const char* kPodUid = "authentication.kubernetes.io/pod-uid";

std::string first_of(const kube::UserInfo& user, const char* key) {
  const auto found = user.extra.find(key);
  return found != user.extra.end() && !found->second.empty() ? found->second.front() : "";
}

}  // namespace

Result<TokenPod> pod_of_token(const kube::UserInfo& user) {
  std::string_view name = user.username;
  if (!name.starts_with(kAccountPrefix))
    return fail(Errc::kForbidden, "{} is no service account: pods report with the token of theirs",
                name);
  name.remove_prefix(kAccountPrefix.size());
  TokenPod token{.ns = std::string(name.substr(0, name.find(':'))),
                 .pod = first_of(user, kPodName),
                 .pod_uid = first_of(user, kPodUid)};
  if (token.ns.empty() || token.pod.empty() || token.pod_uid.empty())
    return fail(Errc::kForbidden, "the token of {} is not bound to a pod: use a projected one",
                user.username);
  return token;
}

Result<JobPod> reporting_pod(const TokenPod& token, const FindJobPod& find) {
  TRY(JobPod pod, find({.ns = token.ns, .name = token.pod}));
  if (pod.pod_uid != token.pod_uid)
    return fail(Errc::kForbidden, "pod {}/{} was replaced (its UID changed)", token.ns, token.pod);
  return pod;
}

}  // namespace amdahl::report
