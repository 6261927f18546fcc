#include "local/apiserver/core/status.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace amdahl::local {
namespace {

Status about(int code, std::string_view reason, const GroupName& what, std::string_view name) {
  Status status{.code = code, .reason = std::string(reason)};
  status.name = name;
  status.group = what.group;
  status.kind = what.name;
  return status;
}

Status plain(int code, std::string_view reason, std::string message) {
  return Status{.code = code, .reason = std::string(reason), .message = std::move(message)};
}

// One text, or "[a, b]"; what was said already is not repeated.
std::string aggregate(const std::vector<Cause>& causes) {
  std::vector<std::string> texts;
  for (const Cause& cause : causes) {
    std::string text =
        cause.field.empty() ? cause.message : fmt::format("{}: {}", cause.field, cause.message);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  return texts.size() == 1 ? texts.front() : fmt::format("[{}]", fmt::join(texts, ", "));
}

Json details_json(const Status& status) {
  Json details = Json::object();
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) details[key] = value;
  };
  set("name", status.name);
  set("group", status.group);
  set("kind", status.kind);
  set("uid", status.uid);
  for (const Cause& cause : status.causes) {
    Json one = Json::object();
    if (!cause.reason.empty()) one["reason"] = cause.reason;
    if (!cause.message.empty()) one["message"] = cause.message;
    if (!cause.field.empty()) one["field"] = cause.field;
    details["causes"].push_back(std::move(one));
  }
  if (status.retry_after_seconds > 0) details["retryAfterSeconds"] = status.retry_after_seconds;
  return details;
}

}  // namespace

std::string qualified(const GroupName& what) {
  return what.group.empty() ? std::string(what.name) : fmt::format("{}.{}", what.name, what.group);
}

Json to_json(const Status& status) {
  Json json = {{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Json::object()}};
  if (!status.continue_token.empty()) json["metadata"]["continue"] = status.continue_token;
  json["status"] = status.code < 400 ? "Success" : "Failure";
  if (!status.message.empty()) json["message"] = status.message;
  if (!status.reason.empty()) json["reason"] = status.reason;
  if (Json details = details_json(status); !details.empty() || status.has_details)
    json["details"] = std::move(details);
  if (status.code >= 400) json["code"] = status.code;
  return json;
}

Status not_found(const GroupName& resource, std::string_view name) {
  Status status = about(404, "NotFound", resource, name);
  status.message = fmt::format("{} \"{}\" not found", qualified(resource), name);
  return status;
}

Status already_exists(const GroupName& resource, std::string_view name) {
  Status status = about(409, "AlreadyExists", resource, name);
  status.message = fmt::format("{} \"{}\" already exists", qualified(resource), name);
  return status;
}

Status name_not_generated(const GroupName& resource, std::string_view name) {
  Status status = already_exists(resource, name);
  status.message += ", the server was not able to generate a unique name for the object";
  status.retry_after_seconds = 1;
  return status;
}

Status forbidden(const GroupName& resource, std::string_view name, std::string_view why) {
  Status status = about(403, "Forbidden", resource, name);
  status.message = name.empty()
                       ? fmt::format("{} is forbidden: {}", qualified(resource), why)
                       : fmt::format("{} \"{}\" is forbidden: {}", qualified(resource), name, why);
  return status;
}

Status conflict(const GroupName& resource, std::string_view name, std::string_view why) {
  Status status = about(409, "Conflict", resource, name);
  status.message =
      fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", qualified(resource), name, why);
  return status;
}

Status modified_meanwhile(const GroupName& resource, std::string_view name) {
  return conflict(resource, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

Status invalid(const GroupName& kind, std::string_view name, std::vector<Cause> causes) {
  Status status = about(422, "Invalid", kind, name);
  status.message = fmt::format("{} \"{}\" is invalid", qualified(kind), name);
  if (!causes.empty()) status.message += ": " + aggregate(causes);
  status.causes = std::move(causes);
  return status;
}

Status bad_request(std::string_view message) {
  return plain(400, "BadRequest", std::string(message));
}

Status expired(std::string_view message) {
  return plain(410, "Expired", std::string(message));
}

Status too_large_version(std::uint64_t wanted, std::uint64_t current) {
  Status status =
      plain(504, "Timeout",
            fmt::format("Timeout: Too large resource version: {}, current: {}", wanted, current));
  status.causes = {{.reason = "ResourceVersionTooLarge", .message = "Too large resource version"}};
  status.retry_after_seconds = 1;
  return status;
}

Status method_not_supported(const GroupName& resource, std::string_view action) {
  Status status = about(405, "MethodNotAllowed", resource, "");
  status.message =
      fmt::format("{} is not supported on resources of kind \"{}\"", action, qualified(resource));
  return status;
}

Status not_acceptable(std::string_view accepted) {
  return plain(406, "NotAcceptable",
               fmt::format("only the following media types are accepted: {}", accepted));
}

Status unsupported_media_type(std::string_view accepted) {
  return plain(415, "UnsupportedMediaType",
               fmt::format("the body of the request was in an unknown format - accepted media "
                           "types include: {}",
                           accepted));
}

Status body_too_large(std::size_t limit) {
  return plain(413, "RequestEntityTooLarge",
               fmt::format("Request entity too large: limit is {}", limit));
}

Status unknown_failure(std::string_view message) {
  return plain(500, "", std::string(message));
}

Status internal_error(std::string_view why) {
  Status status = plain(500, "InternalError", fmt::format("Internal error occurred: {}", why));
  status.causes.push_back({.message = std::string(why)});
  return status;
}

}  // namespace amdahl::local
