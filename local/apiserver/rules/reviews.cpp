// Kinds that are answered and not kept: who a token is, who may do what, tokens for pods.
//
// The embedded server has one user and asks only for a valid token, so everything that an
// authenticated user asks is allowed.
#include <fmt/format.h>

#include <algorithm>

#include "local/apiserver/core/metadata.hpp"
#include "local/apiserver/rules/served_kinds.hpp"

namespace amdahl::local {
namespace {

constexpr std::int64_t kTokenSecondsMin = 600;
constexpr std::int64_t kTokenSecondsDefault = 3'600;
constexpr std::int64_t kTokenSecondsMax = 86'400;
constexpr const char* kIssuer = "https://kubernetes.default.svc.cluster.local";

Json spec_of(const Json& object) {
  const auto found = object.find("spec");
  return found != object.end() && found->is_object() ? *found : Json::object();
}

Json user_json(const User& user) {
  return {{"username", user.name}, {"groups", user.groups}};
}

Json token_review(const Identities& identities, const KindRules::Review& review) {
  const auto user = identities.user_of(text_at(spec_of(*review.object), "token"), review.now);
  if (!user) return {{"user", Json::object()}, {"error", "invalid bearer token"}};
  return {{"authenticated", true}, {"user", user_json(*user)}};
}

// A review asks about one thing, and, unless it is about the caller, about somebody.
std::vector<Cause> wrong_question(const Json& spec, bool about_caller) {
  std::vector<Cause> causes;
  const auto there = [&](const char* key) {
    const auto found = spec.find(key);
    return found != spec.end() && !found->is_null();
  };
  const bool names_groups = there("groups") && !spec["groups"].empty();
  if (there("resourceAttributes") == there("nonResourceAttributes"))
    causes.push_back({.reason = std::string(kCauseInvalid),
                      .message = "Invalid value: null: exactly one of nonResourceAttributes or "
                                 "resourceAttributes must be specified",
                      .field = "spec.resourceAttributes"});
  if (!about_caller && text_at(spec, "user").empty() && !names_groups)
    causes.push_back({.reason = std::string(kCauseInvalid),
                      .message = "Invalid value: \"\": at least one of user or group must be "
                                 "specified",
                      .field = "spec.user"});
  return causes;
}

Json rules_review() {
  const Json all = Json::array({"*"});
  const Json rule = {{"verbs", all}, {"apiGroups", all}, {"resources", all}};
  const Json path = {{"verbs", all}, {"nonResourceURLs", all}};
  return {{"resourceRules", Json::array({rule})},
          {"nonResourceRules", Json::array({path})},
          {"incomplete", false}};
}

Outcome<Json> token_request(Identities& identities, const KindRules::Review& review) {
  const Json spec = spec_of(*review.object);
  const std::int64_t wanted = number_at(spec, "expirationSeconds").value_or(kTokenSecondsDefault);
  if (wanted < kTokenSecondsMin)
    return invalid({.group = "authentication.k8s.io", .name = "TokenRequest"}, "",
                   {{.reason = std::string(kCauseInvalid),
                     .message = fmt::format("Invalid value: {}: may not specify a duration less "
                                            "than 10 minutes",
                                            wanted),
                     .field = "spec.expirationSeconds"}});
  const Json& meta = metadata_of(*review.parent);
  const auto issued = identities.issue(text_at(meta, "namespace"), text_at(meta, "name"),
                                       std::min(wanted, kTokenSecondsMax), review.now);
  if (!issued) return unknown_failure("this server issues no tokens");
  Json answer = {{"kind", "TokenRequest"}, {"apiVersion", "authentication.k8s.io/v1"}};
  answer["metadata"] = {{"name", meta.at("name")},
                        {"namespace", meta.at("namespace")},
                        {"uid", meta.at("uid")},
                        {"creationTimestamp", format_time(review.now)}};
  answer["spec"] = {{"audiences", spec.value("audiences", Json::array({kIssuer}))},
                    {"expirationSeconds", wanted},
                    {"boundObjectRef", spec.value("boundObjectRef", Json())}};
  answer["status"] = {{"token", issued->token},
                      {"expirationTimestamp", format_time(issued->expires)}};
  return answer;
}

}  // namespace

bool ServedKinds::reviews(const ResourceInfo& info, std::string_view subresource) const {
  return !info.custom && info.plural == "serviceaccounts" && subresource == "token";
}

Outcome<Json> ServedKinds::answer_review(const Review& review) const {
  if (review.subresource == "token") return token_request(identities_, review);
  Json answer = *review.object;
  const std::string& plural = review.info->plural;
  if (plural == "tokenreviews") {
    if (text_at(spec_of(*review.object), "token").empty())
      return bad_request("token is required for TokenReview in authentication");
    answer["status"] = token_review(identities_, review);
  } else if (plural == "selfsubjectreviews") {
    answer["status"] = {{"userInfo", user_json(*review.user)}};
  } else if (plural == "selfsubjectrulesreviews") {
    answer["status"] = rules_review();
  } else {
    auto causes = wrong_question(spec_of(answer), plural == "selfsubjectaccessreviews");
    if (!causes.empty()) return invalid({.group = review.info->group}, "", std::move(causes));
    answer["status"] = {{"allowed", true}};
  }
  return answer;
}

}  // namespace amdahl::local
