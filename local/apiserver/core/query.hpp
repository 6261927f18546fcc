// The query parameters of a request, with the types and refusals of Kubernetes.
//
// Pure. Unknown parameters are ignored, as the real server does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "local/apiserver/core/field_selector.hpp"
#include "local/apiserver/core/route.hpp"
#include "local/apiserver/core/status.hpp"
#include "operator/kube/selector.hpp"

namespace amdahl::local {

struct Query {
  kube::Selector labels = {};
  FieldSelector fields = {};
  std::int64_t limit = 0;
  std::string continue_token = {};
  std::string resource_version = {};
  std::string resource_version_match = {};
  bool watch = false;
  bool bookmarks = false;
  std::optional<bool> send_initial_events = std::nullopt;
  std::optional<std::int64_t> timeout_seconds = std::nullopt;
  std::vector<std::string> dry_run = {};
  std::string field_manager = {};
  std::string field_validation = {};
  std::optional<bool> force = std::nullopt;
  std::optional<std::string> propagation_policy = std::nullopt;
  std::optional<bool> orphan_dependents = std::nullopt;
  std::optional<std::int64_t> grace_period_seconds = std::nullopt;
  bool pretty = false;
  std::string include_object = {};  // of a Table: "", None, Metadata, Object

  bool dry() const { return !dry_run.empty(); }
};

// One value, with the text of Go's own parser when it is no number.
Outcome<std::int64_t> parse_integer(const std::string& text);
// Everything but a plain no is yes, also nothing at all: "?watch".
bool parse_truth(const std::string& text);

Outcome<Query> parse_query_options(const Parameters& parameters);

// The rules that tie list and watch options together; a breach is 422.
Outcome<Done> check_list_options(const Query& query);
// dryRun, fieldManager and fieldValidation; `options` is "CreateOptions" and so on.
Outcome<Done> check_write_options(const Query& query, std::string_view options);

}  // namespace amdahl::local
