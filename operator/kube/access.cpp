#include "operator/kube/access.hpp"

#include <algorithm>

#include "base/redact.hpp"
#include "operator/kube/api.hpp"

namespace amdahl::kube {
namespace {

template <Kind T>
Task<Result<T>> ask(Client& client, T question) {
  return api_detail::object<T>(
      client, review_request(T::resource(), api_detail::text_of(to_manifest(question))));
}

AccessDecision decision_of(AccessReviewStatus status) {
  std::string reason = std::move(status.reason);
  if (reason.empty()) reason = std::move(status.evaluation_error);
  return {.allowed = status.allowed && !status.denied, .reason = std::move(reason)};
}

SubjectAccessReview question_of(UserInfo user) {
  SubjectAccessReview review;
  review.spec.user = std::move(user.username);
  review.spec.groups = std::move(user.groups);
  review.spec.extra = std::move(user.extra);
  review.spec.uid = std::move(user.uid);
  return review;
}

Task<Result<AccessDecision>> decide(Client& client, SubjectAccessReview question) {
  CO_TRY(auto answer, co_await ask(client, std::move(question)));
  co_return decision_of(std::move(answer.status));
}

// Whoever refuses a token may quote it.
std::string without(std::string text, const std::string& secret) {
  for (auto at = text.find(secret); !secret.empty() && at != std::string::npos;
       at = text.find(secret))
    text.replace(at, secret.size(), kRedacted);
  return text;
}

}  // namespace

ResourceAttributes access_to(std::string verb, const Resource& resource, std::string ns,
                             std::string name, std::string subresource) {
  ResourceAttributes attributes;
  attributes.ns = std::move(ns);
  attributes.verb = std::move(verb);
  attributes.group = resource.group;
  attributes.version = resource.version;
  attributes.resource = resource.plural;
  attributes.subresource = std::move(subresource);
  attributes.name = std::move(name);
  return attributes;
}

Task<Result<AccessDecision>> can_i(Client& client, ResourceAttributes what) {
  SelfSubjectAccessReview question;
  question.spec.resource = std::move(what);
  CO_TRY(auto answer, co_await ask(client, std::move(question)));
  co_return decision_of(std::move(answer.status));
}

Task<Result<AccessDecision>> can_user(Client& client, UserInfo user, ResourceAttributes what) {
  SubjectAccessReview question = question_of(std::move(user));
  question.spec.resource = std::move(what);
  return decide(client, std::move(question));
}

Task<Result<AccessDecision>> can_user_path(Client& client, UserInfo user,
                                           NonResourceAttributes what) {
  SubjectAccessReview question = question_of(std::move(user));
  question.spec.path = std::move(what);
  return decide(client, std::move(question));
}

Task<Result<UserInfo>> review_token(Client& client, std::string token,
                                    std::vector<std::string> audiences) {
  TokenReview question;
  question.spec.token = token;
  question.spec.audiences = audiences;
  auto answer = co_await ask(client, std::move(question));
  if (!answer) {
    Error error = std::move(answer).error();
    error.context = without(std::move(error.context), token);
    co_return std::unexpected<Error>(std::move(error));
  }
  const TokenReviewStatus& status = answer->status;
  if (!status.authenticated)
    co_return fail(Errc::kUnauthorized, "the token is not valid{}{}",
                   status.error.empty() ? "" : ": ", without(redact(status.error), token));
  // A server that ignores audiences answers without any: the token may be meant for others.
  const bool meant =
      audiences.empty() || std::ranges::any_of(status.audiences, [&](const auto& one) {
        return std::ranges::find(audiences, one) != audiences.end();
      });
  if (!meant) co_return fail(Errc::kUnauthorized, "the token is meant for another audience");
  co_return status.user;
}

}  // namespace amdahl::kube
