#include "local/apiserver/core/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace amdahl::local {
namespace {

constexpr std::size_t kFieldManagerMax = 128;
constexpr std::string_view kMetaGroup = "meta.k8s.io";

bool read_text(const std::string& key, const std::string& value, Query& query) {
  struct Row {
    std::string_view key = {};
    std::string Query::* member = nullptr;
  };
  static constexpr std::array kRows = {Row{"continue", &Query::continue_token},
                                       Row{"resourceVersion", &Query::resource_version},
                                       Row{"resourceVersionMatch", &Query::resource_version_match},
                                       Row{"fieldManager", &Query::field_manager},
                                       Row{"fieldValidation", &Query::field_validation},
                                       Row{"includeObject", &Query::include_object}};
  const auto row = std::ranges::find(kRows, key, &Row::key);
  if (row == kRows.end()) return false;
  query.*(row->member) = value;
  return true;
}

bool read_bool(const std::string& key, const std::string& value, Query& query) {
  if (key == "watch")
    query.watch = parse_truth(value);
  else if (key == "allowWatchBookmarks")
    query.bookmarks = parse_truth(value);
  else if (key == "sendInitialEvents")
    query.send_initial_events = parse_truth(value);
  else if (key == "force")
    query.force = parse_truth(value);
  else if (key == "orphanDependents")
    query.orphan_dependents = parse_truth(value);
  else if (key == "pretty")
    query.pretty = parse_truth(value);
  else
    return false;
  return true;
}

Outcome<Done> read_one(const std::string& key, const std::string& value, Query& query) {
  if (read_text(key, value, query) || read_bool(key, value, query)) return Done{};
  if (key == "labelSelector") {
    auto selector = kube::Selector::parse(value);
    if (!selector)
      return bad_request(fmt::format("unable to parse requirement: {}", selector.error().context));
    query.labels = std::move(*selector);
  } else if (key == "fieldSelector") {
    OUTCOME_TRY(query.fields, FieldSelector::parse(value));
  } else if (key == "limit" && !value.empty()) {
    OUTCOME_TRY(query.limit, parse_integer(value));
  } else if (key == "timeoutSeconds") {
    OUTCOME_TRY(query.timeout_seconds, parse_integer(value));
  } else if (key == "gracePeriodSeconds") {
    OUTCOME_TRY(query.grace_period_seconds, parse_integer(value));
  } else if (key == "dryRun") {
    query.dry_run.push_back(value);
  } else if (key == "propagationPolicy") {
    query.propagation_policy = value;
  }
  return Done{};
}

Cause cause(std::string_view reason, std::string_view field, std::string message) {
  return {
      .reason = std::string(reason), .message = std::move(message), .field = std::string(field)};
}

Cause match_forbidden(std::string_view why) {
  return cause(kCauseForbidden, "resourceVersionMatch", fmt::format("Forbidden: {}", why));
}

std::vector<Cause> list_breaches(const Query& query) {
  std::vector<Cause> causes;
  const std::string& match = query.resource_version_match;
  if (!match.empty()) {
    if (query.resource_version.empty())
      causes.push_back(
          match_forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided"));
    if (!query.continue_token.empty())
      causes.push_back(
          match_forbidden("resourceVersionMatch is forbidden when continue is provided"));
    if (match != "Exact" && match != "NotOlderThan")
      causes.push_back(cause(kCauseNotSupported, "resourceVersionMatch",
                             fmt::format("Unsupported value: \"{}\": supported values: \"Exact\", "
                                         "\"NotOlderThan\", \"\"",
                                         match)));
    if (match == "Exact" && query.resource_version == "0")
      causes.push_back(
          match_forbidden("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
  }
  if (query.send_initial_events)
    causes.push_back(cause(kCauseForbidden, "sendInitialEvents",
                           "Forbidden: sendInitialEvents is forbidden for list"));
  return causes;
}

std::vector<Cause> watch_breaches(const Query& query) {
  std::vector<Cause> causes;
  const std::string& match = query.resource_version_match;
  if (query.send_initial_events && match != "NotOlderThan")
    causes.push_back(
        match_forbidden("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  if (match.empty()) return causes;
  if (!query.send_initial_events)
    causes.push_back(match_forbidden(
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  if (match != "NotOlderThan")
    causes.push_back(
        cause(kCauseNotSupported, "resourceVersionMatch",
              fmt::format("Unsupported value: \"{}\": supported values: \"NotOlderThan\"", match)));
  if (!query.continue_token.empty())
    causes.push_back(
        match_forbidden("resourceVersionMatch is forbidden when continue is provided"));
  return causes;
}

bool printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) != 0x7f;
  });
}

}  // namespace

Outcome<std::int64_t> parse_integer(const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range)
    return bad_request(fmt::format("strconv.ParseInt: parsing \"{}\": value out of range", text));
  if (error != std::errc() || at != end)
    return bad_request(fmt::format("strconv.ParseInt: parsing \"{}\": invalid syntax", text));
  return value;
}

bool parse_truth(const std::string& text) {
  std::string lower = text;
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower != "false" && lower != "0";
}

Outcome<Query> parse_query_options(const Parameters& parameters) {
  Query query;
  for (const auto& [key, value] : parameters) OUTCOME_CHECK(read_one(key, value, query));
  query.limit = std::max<std::int64_t>(query.limit, 0);
  return query;
}

Outcome<Done> check_list_options(const Query& query) {
  std::vector<Cause> causes = query.watch ? watch_breaches(query) : list_breaches(query);
  if (causes.empty()) return Done{};
  return invalid({.group = kMetaGroup, .name = "ListOptions"}, "", std::move(causes));
}

Outcome<Done> check_write_options(const Query& query, std::string_view options) {
  std::vector<Cause> causes;
  if (query.field_manager.size() > kFieldManagerMax)
    causes.push_back(
        cause(kCauseTooLong, "fieldManager",
              fmt::format("Too long: may not be more than {} bytes", kFieldManagerMax)));
  if (!printable(query.field_manager))
    causes.push_back(
        cause(kCauseInvalid, "fieldManager", "Invalid value: a character cannot be printed"));
  if (std::ranges::any_of(query.dry_run, [](const std::string& one) { return one != "All"; }))
    causes.push_back(cause(kCauseNotSupported, "dryRun",
                           fmt::format("Unsupported value: [\"{}\"]: supported values: "
                                       "\"All\"",
                                       fmt::join(query.dry_run, "\",\""))));
  static constexpr std::array<std::string_view, 4> kValidations = {"", "Ignore", "Strict", "Warn"};
  if (std::ranges::find(kValidations, query.field_validation) == kValidations.end())
    causes.push_back(cause(kCauseNotSupported, "fieldValidation",
                           fmt::format("Unsupported value: \"{}\": supported values: \"\", "
                                       "\"Ignore\", \"Strict\", \"Warn\"",
                                       query.field_validation)));
  if (causes.empty()) return Done{};
  return invalid({.group = kMetaGroup, .name = options}, "", std::move(causes));
}

}  // namespace amdahl::local
