// Kinds that are answered and not kept: who a token is, who may do what, tokens for pods.
//
// The embedded server has one user and asks only for a valid token, so everything that an
// authenticated user asks is allowed, and the answer says why.
#include <algorithm>

#include "local/apiserver/core/metadata.hpp"
#include "local/apiserver/rules/served_kinds.hpp"

namespace amdahl::local {
namespace {

constexpr std::int64_t kTokenSecondsMin = 600;
constexpr std::int64_t kTokenSecondsDefault = 3'600;
constexpr std::int64_t kTokenSecondsMax = 86'400;
constexpr const char* kWhyAllowed = "the embedded server allows everything to its users";

Json spec_of(const Json& object) {
  const auto found = object.find("spec");
  return found != object.end() && found->is_object() ? *found : Json::object();
}

Json user_json(const User& user) {
  return {{"username", user.name}, {"groups", user.groups}};
}

Json token_review(const Identities& identities, const KindRules::Review& review) {
  const auto user = identities.user_of(text_at(spec_of(*review.object), "token"), review.now);
  if (!user) return {{"authenticated", false}, {"error", "the token is not known here"}};
  return {{"authenticated", true}, {"user", user_json(*user)}};
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
  const Json& meta = metadata_of(*review.parent);
  const auto issued =
      identities.issue(text_at(meta, "namespace"), text_at(meta, "name"),
                       std::clamp(wanted, kTokenSecondsMin, kTokenSecondsMax), review.now);
  if (!issued) return unknown_failure("this server issues no tokens");
  Json answer = *review.object;
  answer["kind"] = "TokenRequest";
  answer["apiVersion"] = "authentication.k8s.io/v1";
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
    answer["status"] = token_review(identities_, review);
  } else if (plural == "selfsubjectreviews") {
    answer["status"] = {{"userInfo", user_json(*review.user)}};
  } else if (plural == "selfsubjectrulesreviews") {
    answer["status"] = rules_review();
  } else {
    answer["status"] = {{"allowed", true}, {"reason", kWhyAllowed}};
  }
  return answer;
}

}  // namespace amdahl::local
