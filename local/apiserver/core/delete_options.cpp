#include <fmt/format.h>

#include "local/apiserver/core/decode.hpp"
#include "local/apiserver/core/deletion.hpp"
#include "local/apiserver/core/metadata.hpp"

namespace amdahl::local {
namespace {

Outcome<Done> check(const DeleteOptions& options, const std::vector<std::string>& dry_run) {
  std::vector<Cause> causes;
  if (options.orphan_dependents && options.propagation)
    causes.push_back(
        {.reason = std::string(kCauseInvalid),
         .message = fmt::format("Invalid value: \"{}\": orphanDependents and deletionPropagation "
                                "cannot be both set",
                                *options.propagation),
         .field = "propagationPolicy"});
  if (const auto& policy = options.propagation;
      policy && *policy != "Foreground" && *policy != "Background" && *policy != "Orphan")
    causes.push_back({.reason = std::string(kCauseNotSupported),
                      .message = fmt::format("Unsupported value: \"{}\": supported values: "
                                             "\"Foreground\", \"Background\", \"Orphan\", \"nil\"",
                                             *policy),
                      .field = "propagationPolicy"});
  for (const std::string& one : dry_run) {
    if (one == "All") continue;
    causes.push_back({.reason = std::string(kCauseNotSupported),
                      .message = fmt::format("Unsupported value: [\"{}\"]: supported "
                                             "values: \"All\"",
                                             fmt::join(dry_run, "\",\"")),
                      .field = "dryRun"});
    break;
  }
  if (causes.empty()) return Done{};
  return invalid({.group = "meta.k8s.io", .name = "DeleteOptions"}, "", std::move(causes));
}

Status wrong_member(std::string_view member, std::string_view type) {
  return bad_request(fmt::format(
      "json: cannot unmarshal into Go struct field DeleteOptions.{} of type {}", member, type));
}

Outcome<Done> read_preconditions(const Json& json, DeleteOptions& options) {
  if (!json.is_object()) return wrong_member("preconditions", "v1.Preconditions");
  for (const char* key : {"uid", "resourceVersion"})
    if (json.contains(key) && !json[key].is_null() && !json[key].is_string())
      return wrong_member(std::string("preconditions.") + key, "string");
  if (const std::string uid = text_at(json, "uid"); !uid.empty()) options.uid = uid;
  if (const std::string version = text_at(json, "resourceVersion"); !version.empty())
    options.version = version;
  return Done{};
}

}  // namespace

Outcome<DeleteOptions> delete_options_from(const Json& json) {
  DeleteOptions options;
  std::vector<std::string> dry_run;
  if (!json.is_object()) return bad_request("decoded object cannot be converted to DeleteOptions");
  for (const auto& [key, value] : json.items()) {
    if (value.is_null()) continue;
    if (key == "gracePeriodSeconds") {
      if (!value.is_number_integer()) return wrong_member(key, "int64");
      options.grace_period_seconds = value.get<std::int64_t>();
    } else if (key == "propagationPolicy") {
      if (!value.is_string()) return wrong_member(key, "v1.DeletionPropagation");
      options.propagation = value.get<std::string>();
    } else if (key == "orphanDependents") {
      if (!value.is_boolean()) return wrong_member(key, "bool");
      options.orphan_dependents = value.get<bool>();
    } else if (key == "dryRun") {
      if (!value.is_array()) return wrong_member(key, "[]string");
      for (const Json& one : value) {
        if (!one.is_string()) return wrong_member(key, "string");
        dry_run.push_back(one.get<std::string>());
      }
    } else if (key == "preconditions") {
      OUTCOME_CHECK(read_preconditions(value, options));
    }
  }
  OUTCOME_CHECK(check(options, dry_run));
  options.dry = !dry_run.empty();
  return options;
}

Outcome<DeleteOptions> read_delete_options(const ServerState& state, const Request& request) {
  if (!request.call->body.empty()) {
    OUTCOME_TRY(const Body body, read_body(state, request));
    return delete_options_from(body.value);
  }
  DeleteOptions options{.grace_period_seconds = request.query.grace_period_seconds,
                        .propagation = request.query.propagation_policy,
                        .orphan_dependents = request.query.orphan_dependents,
                        .dry = request.query.dry()};
  OUTCOME_CHECK(check(options, request.query.dry_run));
  return options;
}

}  // namespace amdahl::local
