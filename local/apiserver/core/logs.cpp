#include "local/apiserver/core/logs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "local/apiserver/core/metadata.hpp"
#include "local/apiserver/core/pod_logs.hpp"

namespace amdahl::local {
namespace {

struct LogOptions {
  std::string container = {};
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::optional<std::int64_t> tail_lines = {};
  std::optional<std::int64_t> limit_bytes = {};
  std::optional<std::int64_t> since_seconds = {};
  std::optional<WallTime> since_time = {};
  bool stream = false;  // stdout or stderr alone: not offered
};

Outcome<Done> read_one(const std::string& key, const std::string& value, LogOptions& options) {
  if (key == "container") {
    options.container = value;
  } else if (key == "follow") {
    options.follow = parse_truth(value);
  } else if (key == "previous") {
    options.previous = parse_truth(value);
  } else if (key == "timestamps") {
    options.timestamps = parse_truth(value);
  } else if (key == "stream") {
    options.stream = true;
  } else if (key == "tailLines") {
    OUTCOME_TRY(options.tail_lines, parse_integer(value));
  } else if (key == "limitBytes") {
    OUTCOME_TRY(options.limit_bytes, parse_integer(value));
  } else if (key == "sinceSeconds") {
    OUTCOME_TRY(options.since_seconds, parse_integer(value));
  } else if (key == "sinceTime" && !value.empty()) {
    const auto time = parse_time(value);
    if (!time) return bad_request(time.error().context);
    options.since_time = *time;
  }
  return Done{};
}

Outcome<LogOptions> log_options(const Request& request) {
  OUTCOME_TRY(const Target target, parse_target(request.call->target));
  LogOptions options;
  for (const auto& [key, value] : target.parameters) OUTCOME_CHECK(read_one(key, value, options));
  return options;
}

Cause wrong_number(std::string_view field, std::int64_t value, std::string_view rule) {
  return {.reason = std::string(kCauseInvalid),
          .message = fmt::format("Invalid value: {}: must be greater than {}", value, rule),
          .field = std::string(field)};
}

Cause forbidden_field(std::string_view field, std::string_view why) {
  return {.reason = std::string(kCauseForbidden),
          .message = fmt::format("Forbidden: {}", why),
          .field = std::string(field)};
}

Outcome<Done> check(const LogOptions& options, const std::string& pod) {
  std::vector<Cause> causes;
  if (options.tail_lines.value_or(0) < 0)
    causes.push_back(wrong_number("tailLines", *options.tail_lines, "or equal to 0"));
  if (options.limit_bytes.value_or(1) < 1)
    causes.push_back(wrong_number("limitBytes", *options.limit_bytes, "0"));
  if (options.since_seconds && options.since_time)
    causes.push_back(
        forbidden_field("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
  else if (options.since_seconds.value_or(1) < 1)
    causes.push_back(wrong_number("sinceSeconds", *options.since_seconds, "0"));
  if (options.stream) causes.push_back(forbidden_field("stream", "may not be specified"));
  if (causes.empty()) return Done{};
  return invalid({.name = "PodLogOptions"}, pod, std::move(causes));
}

std::vector<std::string> names_in(const Json& spec, const char* list) {
  std::vector<std::string> names;
  const auto found = spec.find(list);
  if (found == spec.end() || !found->is_array()) return names;
  for (const Json& one : *found)
    if (one.is_object()) names.push_back(text_at(one, "name"));
  return names;
}

// The one that was asked for, or the only one there is.
Outcome<std::string> choose_container(const Json& spec, const std::string& pod,
                                      const std::string& wanted) {
  const std::vector<std::string> plain = names_in(spec, "containers");
  std::vector<std::string> all = names_in(spec, "initContainers");
  all.insert(all.end(), plain.begin(), plain.end());
  for (std::string& name : names_in(spec, "ephemeralContainers")) all.push_back(std::move(name));
  if (!wanted.empty()) {
    if (std::ranges::find(all, wanted) != all.end()) return wanted;
    return bad_request(fmt::format("container {} is not valid for pod {}", wanted, pod));
  }
  if (plain.size() == 1) return plain.front();
  if (plain.empty())
    return bad_request(fmt::format("a container name must be specified for pod {}", pod));
  return bad_request(
      fmt::format("a container name must be specified for pod {}, choose one of: [{}]", pod,
                  fmt::join(all, " ")));
}

// Far enough back is everything; the time before the clock's own range would overflow.
WallTime seconds_ago(WallTime now, std::int64_t seconds) {
  constexpr std::int64_t kSecondsMax = std::int64_t{100} * 365 * 86'400;
  return now - std::chrono::seconds{std::min(seconds, kSecondsMax)};
}

}  // namespace

Outcome<Reply> read_log(ServerState& state, Request& request) {
  const std::string& name = request.route.name;
  OUTCOME_TRY(const LogOptions options, log_options(request));
  OUTCOME_CHECK(check(options, name));
  LogQuery query{.ns = request.route.ns,
                 .pod = name,
                 .container = options.container,
                 .follow = options.follow,
                 .previous = options.previous,
                 .timestamps = options.timestamps,
                 .tail_lines = options.tail_lines,
                 .limit_bytes = options.limit_bytes,
                 .since = options.since_time};
  if (options.since_seconds) query.since = seconds_ago(state.now, *options.since_seconds);
  const ObjectPtr found = state.table.get(request.resource, request.key());
  if (!found) {
    if (state.options.pod_logs == nullptr) return not_found(request.info->resource_name(), name);
    Reply reply{.content_type = "text/plain"};
    OUTCOME_TRY(reply.stream, state.options.pod_logs->open_kept(query));
    return reply;
  }
  const Json pod = parsed(*found);
  const Json spec = pod.value("spec", Json::object());
  OUTCOME_TRY(query.container, choose_container(spec, name, options.container));
  if (text_at(spec, "nodeName").empty()) return Reply{.status = 204, .content_type = ""};
  if (state.options.pod_logs == nullptr)
    return Status{.code = 501,
                  .message = fmt::format("pod {}/{} has no log: this server runs no containers",
                                         request.route.ns, name)};
  query.uid = found->uid;
  Reply reply{.content_type = "text/plain", .wait_version = found->version};
  OUTCOME_TRY(reply.stream, state.options.pod_logs->open(query));
  return reply;
}

}  // namespace amdahl::local
