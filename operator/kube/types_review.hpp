// Questions to the API server that change nothing: may I, may they, and whose token is this.
// Sent and read as JSON; the group-valued "extra" has no protobuf number here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/kube/types_meta.hpp"

namespace amdahl::kube {

inline const Resource kSelfSubjectAccessReviews{.group = "authorization.k8s.io",
                                                .version = "v1",
                                                .plural = "selfsubjectaccessreviews",
                                                .kind = "SelfSubjectAccessReview",
                                                .namespaced = false};
inline const Resource kSubjectAccessReviews{.group = "authorization.k8s.io",
                                            .version = "v1",
                                            .plural = "subjectaccessreviews",
                                            .kind = "SubjectAccessReview",
                                            .namespaced = false};
inline const Resource kTokenReviews{.group = "authentication.k8s.io",
                                    .version = "v1",
                                    .plural = "tokenreviews",
                                    .kind = "TokenReview",
                                    .namespaced = false};

struct ResourceAttributes {
  std::string ns = {};
  std::string verb = {};
  std::string group = {};
  std::string version = {};
  std::string resource = {};
  std::string subresource = {};
  std::string name = {};
  bool operator==(const ResourceAttributes&) const = default;
};
template <class V>
constexpr void fields(V& v, ResourceAttributes& attributes) {
  v.optional("namespace", attributes.ns, {.wire = 1});
  v.optional("verb", attributes.verb, {.wire = 2});
  v.optional("group", attributes.group, {.wire = 3});
  v.optional("version", attributes.version, {.wire = 4});
  v.optional("resource", attributes.resource, {.wire = 5});
  v.optional("subresource", attributes.subresource, {.wire = 6});
  v.optional("name", attributes.name, {.wire = 7});
}

struct NonResourceAttributes {
  std::string path = {};
  std::string verb = {};
  bool operator==(const NonResourceAttributes&) const = default;
};
template <class V>
constexpr void fields(V& v, NonResourceAttributes& attributes) {
  v.optional("path", attributes.path, {.wire = 1});
  v.optional("verb", attributes.verb, {.wire = 2});
}

struct AccessReviewStatus {
  bool allowed = false;
  bool denied = false;
  std::string reason = {};
  std::string evaluation_error = {};
  bool operator==(const AccessReviewStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, AccessReviewStatus& status) {
  v.optional("allowed", status.allowed, {.wire = 1});
  v.optional("denied", status.denied, {.wire = 4});
  v.optional("reason", status.reason, {.wire = 2});
  v.optional("evaluationError", status.evaluation_error, {.wire = 3});
}

struct SelfSubjectAccessReviewSpec {
  std::optional<ResourceAttributes> resource = {};
  std::optional<NonResourceAttributes> path = {};
  bool operator==(const SelfSubjectAccessReviewSpec&) const = default;
};
template <class V>
constexpr void fields(V& v, SelfSubjectAccessReviewSpec& spec) {
  v.optional("resourceAttributes", spec.resource, {.wire = 1});
  v.optional("nonResourceAttributes", spec.path, {.wire = 2});
}

struct SelfSubjectAccessReview {
  SelfSubjectAccessReviewSpec spec = {};
  AccessReviewStatus status = {};
  bool operator==(const SelfSubjectAccessReview&) const = default;
  static const Resource& resource() { return kSelfSubjectAccessReviews; }
};
template <class V>
constexpr void fields(V& v, SelfSubjectAccessReview& review) {
  v.required("spec", review.spec, {.wire = 2});
  v.optional("status", review.status, {.wire = 3});
}

struct SubjectAccessReviewSpec {
  std::optional<ResourceAttributes> resource = {};
  std::optional<NonResourceAttributes> path = {};
  std::string user = {};
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>> extra = {};
  std::string uid = {};
  bool operator==(const SubjectAccessReviewSpec&) const = default;
};
template <class V>
constexpr void fields(V& v, SubjectAccessReviewSpec& spec) {
  v.optional("resourceAttributes", spec.resource, {.wire = 1});
  v.optional("nonResourceAttributes", spec.path, {.wire = 2});
  v.optional("user", spec.user, {.wire = 3});
  v.optional("groups", spec.groups, {.wire = 4});
  v.optional("extra", spec.extra);
  v.optional("uid", spec.uid, {.wire = 6});
}

struct SubjectAccessReview {
  SubjectAccessReviewSpec spec = {};
  AccessReviewStatus status = {};
  bool operator==(const SubjectAccessReview&) const = default;
  static const Resource& resource() { return kSubjectAccessReviews; }
};
template <class V>
constexpr void fields(V& v, SubjectAccessReview& review) {
  v.required("spec", review.spec);
  v.optional("status", review.status);
}

struct TokenReviewSpec {
  std::string token = {};
  std::vector<std::string> audiences = {};
};
template <class V>
constexpr void fields(V& v, TokenReviewSpec& spec) {
  v.optional("token", spec.token, {.wire = 1});
  v.optional("audiences", spec.audiences, {.wire = 2});
}

struct UserInfo {
  std::string username = {};
  std::string uid = {};
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>> extra = {};
  bool operator==(const UserInfo&) const = default;
};
template <class V>
constexpr void fields(V& v, UserInfo& user) {
  v.optional("username", user.username, {.wire = 1});
  v.optional("uid", user.uid, {.wire = 2});
  v.optional("groups", user.groups, {.wire = 3});
  v.optional("extra", user.extra);
}

struct TokenReviewStatus {
  bool authenticated = false;
  UserInfo user = {};
  std::vector<std::string> audiences = {};
  std::string error = {};
  bool operator==(const TokenReviewStatus&) const = default;
};
template <class V>
constexpr void fields(V& v, TokenReviewStatus& status) {
  v.optional("authenticated", status.authenticated, {.wire = 1});
  v.optional("user", status.user, {.wire = 2});
  v.optional("audiences", status.audiences, {.wire = 4});
  v.optional("error", status.error, {.wire = 3});
}

struct TokenReview {
  TokenReviewSpec spec = {};
  TokenReviewStatus status = {};
  static const Resource& resource() { return kTokenReviews; }
};
template <class V>
constexpr void fields(V& v, TokenReview& review) {
  v.required("spec", review.spec);
  v.optional("status", review.status);
}

}  // namespace amdahl::kube
