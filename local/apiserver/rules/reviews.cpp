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

Json spec_of(const Json& object) {
  const auto found = object.find("spec");
  return found != object.end() && found->is_object() ? *found : Json::object();
}

Json user_json(const User& user) {
  Json shown = {{"username", user.name}, {"groups", user.groups}};
  if (!user.uid.empty()) shown["uid"] = user.uid;
  if (!user.extra.empty()) shown["extra"] = user.extra;
  return shown;
}

// Whom a request means: those it names, or this server.
std::vector<std::string> audiences_of(const Json& spec) {
  std::vector<std::string> named;
  const auto found = spec.find("audiences");
  if (found != spec.end() && found->is_array())
    for (const Json& one : *found)
      if (one.is_string()) named.push_back(one.get<std::string>());
  if (named.empty()) named.emplace_back(kApiAudience);
  return named;
}

// As Go prints a list of strings.
std::string quoted(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "\"" : " \"") + text + "\"";
  return "[" + list + "]";
}

Json token_review(const Identities& identities, const KindRules::Review& review) {
  const Json spec = spec_of(*review.object);
  const auto nobody = [](std::string why) {
    return Json{{"user", Json::object()}, {"error", std::move(why)}};
  };
  const auto owner = identities.owner_of(text_at(spec, "token"), review.now);
  if (!owner) return nobody("invalid bearer token");
  const std::vector<std::string> wanted = audiences_of(spec);
  std::vector<std::string> both;
  for (const std::string& one : wanted)
    if (std::ranges::find(owner->audiences, one) != owner->audiences.end()) both.push_back(one);
  if (both.empty())
    return nobody(
        fmt::format("[invalid bearer token, token audiences {} is invalid for the target "
                    "audiences {}]",
                    quoted(owner->audiences), quoted(wanted)));
  return {{"authenticated", true}, {"user", user_json(owner->user)}, {"audiences", both}};
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
  Identities::Wish wish{.ns = text_at(meta, "namespace"),
                        .account = text_at(meta, "name"),
                        .account_uid = text_at(meta, "uid"),
                        .audiences = audiences_of(spec),
                        .seconds = std::min(wanted, kTokenSecondsMax)};
  const Json bound = spec.value("boundObjectRef", Json());
  if (bound.is_object() && text_at(bound, "kind") == "Pod") {
    wish.pod = text_at(bound, "name");
    wish.pod_uid = text_at(bound, "uid");
  }
  const auto issued = identities.issue(wish, review.now);
  if (!issued) return unknown_failure("this server issues no tokens");
  Json answer = {{"kind", "TokenRequest"}, {"apiVersion", "authentication.k8s.io/v1"}};
  answer["metadata"] = {{"name", meta.at("name")},
                        {"namespace", meta.at("namespace")},
                        {"uid", meta.at("uid")},
                        {"creationTimestamp", format_time(review.now)}};
  answer["spec"] = {
      {"audiences", wish.audiences}, {"expirationSeconds", wanted}, {"boundObjectRef", bound}};
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
