#include "operator/report/reporter.hpp"

#include <catch2/catch.hpp>

namespace amdahl::report {
namespace {

kube::UserInfo account(std::string pod, std::string uid) {
  kube::UserInfo user{.username = "system:serviceaccount:research:default"};
  if (!pod.empty()) user.extra["authentication.kubernetes.io/pod-name"] = {std::move(pod)};
  if (!uid.empty()) user.extra["authentication.kubernetes.io/pod-uid"] = {std::move(uid)};
  return user;
}

TEST_CASE("pod_of_token names the pod that the token is bound to") {
  const auto pod = pod_of_token(account("llama-1-0", "u1"));
  REQUIRE(pod);
  CHECK(*pod == TokenPod{.ns = "research", .pod = "llama-1-0", .pod_uid = "u1"});
}

TEST_CASE("pod_of_token refuses people, and tokens that are bound to no pod") {
  kube::UserInfo person = account("llama-1-0", "u1");
  person.username = "alice";
  kube::UserInfo empty_list = account("", "u1");
  empty_list.extra["authentication.kubernetes.io/pod-name"] = {};
  for (const kube::UserInfo& user : {person, account("", "u1"), account("p", ""), empty_list}) {
    const auto pod = pod_of_token(user);
    REQUIRE_FALSE(pod);
    CHECK(pod.error().code == Errc::kForbidden);
  }
}

TEST_CASE("reporting_pod takes only the pod of that UID") {
  const FindJobPod find = [](const kube::ObjectKey& key) -> Result<JobPod> {
    if (key != kube::ObjectKey{.ns = "research", .name = "llama-1-0"})
      return fail(Errc::kForbidden, "pod {} belongs to no TrainingJob", to_string(key));
    return JobPod{.pod_uid = "u2", .attempt = 1};
  };
  TokenPod token{.ns = "research", .pod = "llama-1-0", .pod_uid = "u2"};
  CHECK(reporting_pod(token, find));
  token.pod_uid = "u1";  // an older pod of the same name
  CHECK(reporting_pod(token, find).error().code == Errc::kForbidden);
  token.ns = "elsewhere";
  CHECK(reporting_pod(token, find).error().code == Errc::kForbidden);
}

}  // namespace
}  // namespace amdahl::report
